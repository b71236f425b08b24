// Defines a file of a source, and the cache of results.

import type { Cut } from '#kubernetes/rules/large-values.ts';
import type { Problem } from '#std/problem.ts';
import type { Opening } from '#std/sops/open.ts';
import { writtenAt } from '#std/sops/replace.ts';
import type { BuiltFrom } from './kustomize/built.ts';
import type { Variables } from './substitute/variables.ts';

export interface SourceFile {
  /** Path for problems. Only `*.yaml`, `*.yml` and `*.json` are read. */
  readonly path: string;
  /** Equal ids mean equal text and equal `openings`. The id starts with a Git blob id or a digest. */
  readonly oid: string;
  readonly text: string;
  /** Default namespace of the objects. If absent, an object of a namespaced kind must declare its namespace. */
  readonly namespace?: string | undefined;
  /** Files from which kustomize built this file; absent for a file of the repository. */
  readonly built?: BuiltFrom;
  /** Variables that replace expressions; set if the text contains expressions. */
  readonly variables?: Variables;
  /** Set if the file is not text. `text` is then empty. */
  readonly fault?: Problem;
  /** Set if long values were removed from the text. The values can be read again from the blob `blob`. */
  readonly shortened?: { readonly blob: string; readonly cuts: readonly Cut[] };
  /** Results of decryption, by index among the documents that are not empty. */
  readonly openings?: readonly (Opening | undefined)[];
}

/** Returns true for names and paths of manifests: `*.yaml`, `*.yml` and `*.json`, except the settings file of SOPS. */
export function isManifest(name: string): boolean {
  return /\.(ya?ml|json)$/.test(name) && !/(?:^|\/)\.sops\.ya?ml$/.test(name);
}

/** Returns the pointer in the text for a pointer in the decrypted value. */
export function writtenPointer({ openings }: SourceFile, document: number, pointer: string): string {
  return writtenAt(pointer, openings?.[document]?.comments ?? []);
}

/** Cache with JSON values. Keys identify the content and the schemas. */
export interface LoadCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/**
 * Maximum characters of a file. The API server accepts 3 MiB per object. Parsing malicious YAML can need memory of
 * hundreds of times its size.
 */
export const CHARACTERS_MAX = 4 * 1024 * 1024;

/** Characters of YAML aliases. A short text with aliases can expand to a long text. */
export const REPEATS = /[&*]/;

export function isTooLarge({ text }: SourceFile): boolean {
  return text.length > CHARACTERS_MAX;
}
