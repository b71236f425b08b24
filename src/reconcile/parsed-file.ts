// One file's text as values, read once per content. Knows nothing about kinds.

import type { Json } from '../std/json.ts';
import type { Problem } from '../std/problem.ts';
import { readDocuments } from '../std/yaml.ts';
import type { LoadCache, SourceFile } from './source-file.ts';
import { unroll } from './unroll.ts';

/** JSON, so that any cache can keep it. */
export interface ParsedFile {
  readonly objects: readonly ParsedObject[];
  /** Of the text; they lack `resource`. */
  readonly problems: readonly { readonly document: number; readonly problem: Problem }[];
  /** Documents that could not be read as a value. */
  readonly unreadable: number;
}

export interface ParsedObject {
  /** Index among the documents of the file that are not empty. */
  readonly document: number;
  /** Where it stands in the document; empty unless it is the item of a list. */
  readonly pointer: string;
  readonly value: Json;
}

export function parseFile(file: SourceFile, cache: LoadCache | undefined): ParsedFile {
  const key = `text ${file.oid} ${file.path}`;
  const cached = cache?.get(key);
  if (cached !== undefined) return cached as ParsedFile;
  const documents = readDocuments(file.text, file.path);
  const parsed: ParsedFile = {
    objects: documents.flatMap(({ value }, document) =>
      value === undefined ? [] : unroll(value).map((unrolled) => ({ document, ...unrolled })),
    ),
    problems: documents.flatMap(({ problems }, document) => problems.map((problem) => ({ document, problem }))),
    unreadable: documents.filter(({ value }) => value === undefined).length,
  };
  cache?.set(key, parsed);
  return parsed;
}
