// Parses the text of a file into values, once per content.

import type { Problem } from '#std/problem.ts';
import { type ReadDocument, readDocuments } from '#std/yaml/yaml.ts';
import { withOwnPlaces } from './kustomize/places.ts';
import { refuseLarge } from './object-size.ts';
import { openedObjects } from './opened-objects.ts';
import type { ParsedObject } from './parsed-object.ts';
import type { SoundFile } from './sound-files.ts';
import { isTooLarge, type LoadCache, type SourceFile } from './source-file.ts';
import { substituteObjects } from './substitute/objects.ts';
import { unroll } from './unroll.ts';

/** Result for one file. It is JSON, so that any cache can store it. */
export interface ParsedFile {
  readonly objects: readonly ParsedObject[];
  /** Problems of the text, without the field `resource`. */
  readonly problems: readonly { readonly document: number; readonly problem: Problem }[];
  /** Number of documents with unknown objects: syntax errors, an encrypted identity, or a file that was not read. */
  readonly unreadable: number;
}

/** Parses a file. `sound` is the result of an earlier process, if it exists. */
export function parseFile(file: SourceFile, cache: LoadCache | undefined, sound?: SoundFile): ParsedFile {
  if (file.fault !== undefined) return { objects: [], problems: [{ document: 0, problem: file.fault }], unreadable: 1 };
  if (isTooLarge(file)) return { objects: [], problems: [fileTooLarge(file)], unreadable: 1 };
  const key = textKey(file);
  const cached = cache?.get(key);
  if (cached !== undefined) return cached as ParsedFile;
  const parsed = sound === undefined ? parseText(file) : { objects: sound.objects, problems: [], unreadable: 0 };
  cache?.set(key, parsed);
  return parsed;
}

function parseText(file: SourceFile): ParsedFile {
  const documents = readDocuments(file.text, file.path).map((read, document) =>
    objectsOf(file, withOwnPlaces(file, read, document), document),
  );
  return {
    objects: documents.flatMap(({ objects }) => objects),
    problems: documents.flatMap(({ problems }, document) => problems.map((problem) => ({ document, problem }))),
    unreadable: documents.filter(({ unreadable }) => unreadable).length,
  };
}

/** Returns the cache key of the parsed file. */
export function textKey({ oid, path }: SourceFile): string {
  return `text ${oid} ${path}`;
}

interface DocumentObjects {
  readonly objects: readonly ParsedObject[];
  readonly problems: readonly Problem[];
  readonly unreadable: boolean;
}

function objectsOf(file: SourceFile, read: ReadDocument, document: number): DocumentObjects {
  const { value, problems } = read;
  if (value === undefined) return { objects: [], problems, unreadable: true };
  const opening = file.openings?.[document];
  if (opening === undefined) {
    const { objects, problems: ofSize } = refuseLarge(
      file,
      read,
      unroll(value).map((unrolled) => ({ document, ...unrolled })),
    );
    const { objects: complete, problems: ofVariables } = substituteObjects(file, read, objects);
    return { objects: complete, problems: [...problems, ...ofSize, ...ofVariables], unreadable: false };
  }
  const opened = openedObjects(opening, document, read);
  return { ...opened, problems: [...problems, ...opened.problems] };
}

function fileTooLarge({ path }: SourceFile): ParsedFile['problems'][number] {
  const message = 'The file has more than 4 MiB: split it into several files.';
  return {
    document: 0,
    problem: { code: 'file-too-large', severity: 'error', message, place: { file: path, line: 1, column: 1 } },
  };
}
