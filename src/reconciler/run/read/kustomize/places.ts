// Finds the place of a value in a file of a source.

import type { SourcePlace } from '#std/problem.ts';
import { type ReadDocument, readDocuments } from '#std/yaml/yaml.ts';
import { placeInFile } from '../short-text.ts';
import { type SourceFile, writtenPointer } from '../source-file.ts';
import { placeBuilt } from './built.ts';

/** Returns the place of a value. `document` is the index among the documents that are not empty. */
export type FindPlace = (document: number, pointer: string, at?: 'key' | 'value') => SourcePlace;

/**
 * Returns a function that parses the text on first use, because places are needed for few files and parsing is slow.
 */
export function openPlaces(file: SourceFile): FindPlace {
  let documents: readonly ReadDocument[] | undefined;
  return (document, pointer, at) => {
    documents ??= readDocuments(file.text, file.path);
    const read = documents[document];
    if (file.built !== undefined) return placeBuilt(file.built, read?.value ?? null, pointer, at);
    const written = writtenPointer(file, document, pointer);
    return placeInFile(file, read?.place(written, at) ?? { file: file.path, line: 1, column: 1 });
  };
}

/** Replaces places in a built text with places in the repository. */
export function withOwnPlaces(file: SourceFile, read: ReadDocument, document: number): ReadDocument {
  if (file.built === undefined) return read;
  const find = openPlaces(file);
  const problems = read.problems.map((problem) => ({ ...problem, place: find(document, problem.pointer ?? '') }));
  return { value: read.value, problems, place: (pointer, at) => find(document, pointer, at) };
}
