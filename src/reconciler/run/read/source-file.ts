// Defines a file of a source, and the cache of earlier readings.

import type { Cut } from '#kubernetes/rules/large-values.ts';
import type { Problem } from '#std/problem.ts';
import type { Opening } from '#std/sops/open.ts';
import { writtenAt } from '#std/sops/replace.ts';
import type { BuiltFrom } from './kustomize/built.ts';
import type { Variables } from './substitute/variables.ts';

export interface SourceFile {
  /** Path for problems. Only `*.yaml`, `*.yml` and `*.json` are read. */
  readonly path: string;
  /** Equal ids mean equal text (a Git blob id, or a digest), and the same openings. */
  readonly oid: string;
  readonly text: string;
  /** Default namespace of the objects. If absent, a namespaced object without a namespace is a problem. */
  readonly namespace?: string | undefined;
  /** Files from which kustomize built this file; absent if the file is in the repository itself. */
  readonly built?: BuiltFrom;
  /** Variables whose values replace expressions; set if the text has expressions. */
  readonly variables?: Variables;
  /** Set if the bytes of the file are not text; then `text` is empty. */
  readonly fault?: Problem;
  /** Set if long values were removed from the text. `blob` is the id of the blob from which they are read again. */
  readonly shortened?: { readonly blob: string; readonly cuts: readonly Cut[] };
  /** Results of decryption, by index among the documents that are not empty. */
  readonly openings?: readonly (Opening | undefined)[];
}

/**
 * Returns true if a file contains manifests, by its name or path: `*.yaml`, `*.yml` and `*.json`, except for SOPS's own
 * rules.
 */
export function isManifest(name: string): boolean {
  return /\.(ya?ml|json)$/.test(name) && !/(?:^|\/)\.sops\.ya?ml$/.test(name);
}

/** Returns the pointer at which the text has the part of the document's value. */
export function writtenPointer({ openings }: SourceFile, document: number, pointer: string): string {
  return writtenAt(pointer, openings?.[document]?.comments ?? []);
}

/** A map with opaque JSON values. Its keys identify content and schemas. */
export interface LoadCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/**
 * Maximum number of characters. The API server accepts 3 MiB per object; malicious YAML needs memory of hundreds of
 * times its size.
 */
export const CHARACTERS_MAX = 4 * 1024 * 1024;

/** Characters by which a YAML text can stand for a longer text. */
export const REPEATS = /[&*]/;

/** Returns true if the file is too large to be read. */
export function isTooLarge({ text }: SourceFile): boolean {
  return text.length > CHARACTERS_MAX;
}
