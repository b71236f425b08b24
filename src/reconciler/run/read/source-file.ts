// Defines a file of a source, and the memory of earlier readings.

import type { Cut } from '#kubernetes/rules/large-values.ts';
import type { Problem } from '#std/problem.ts';
import type { Opening } from '#std/sops/open.ts';
import { writtenAt } from '#std/sops/replace.ts';
import type { BuiltFrom } from './kustomize/built.ts';
import type { Variables } from './substitute/variables.ts';

export interface SourceFile {
  /** Path as problems name it. Only `*.yaml`, `*.yml` and `*.json` are read. */
  readonly path: string;
  /** Equal ids mean equal text (a Git blob id, or a digest), and the same openings. */
  readonly oid: string;
  readonly text: string;
  /** Namespace of its namespaced objects that name none; absent: such an object is a problem. */
  readonly namespace?: string | undefined;
  /** Files from which kustomize built it; absent if it is in the repository itself. */
  readonly built?: BuiltFrom;
  /** Variables whose values are put into its objects; set if the text has expressions. */
  readonly variables?: Variables;
  /** Set if the bytes of the file are not text; `text` is empty then. */
  readonly fault?: Problem;
  /** Set if the text lacks long values. `blob`: id of the blob from which they are read again. */
  readonly shortened?: { readonly blob: string; readonly cuts: readonly Cut[] };
  /** Results for its encrypted documents, by index among the documents that are not empty. */
  readonly openings?: readonly (Opening | undefined)[];
}

/**
 * Returns true if a file holds manifests, by its name or path: `*.yaml`, `*.yml` and `*.json` do, except for SOPS's own
 * rules.
 */
export function isManifest(name: string): boolean {
  return /\.(ya?ml|json)$/.test(name) && !/(?:^|\/)\.sops\.ya?ml$/.test(name);
}

/** Returns the pointer at which a part of a document's value is in the text. */
export function writtenPointer({ openings }: SourceFile, document: number, pointer: string): string {
  return writtenAt(pointer, openings?.[document]?.comments ?? []);
}

/** A map whose keys name content and schemas, and whose values are opaque JSON. */
export interface LoadCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** The API server accepts 3 MiB for one object; malicious YAML takes memory hundreds of times its size. */
export const CHARACTERS_MAX = 4 * 1024 * 1024;

/** Characters by which YAML can stand for more than its text. */
export const REPEATS = /[&*]/;

/** Returns true if the content of the file is not read. */
export function isTooLarge({ text }: SourceFile): boolean {
  return text.length > CHARACTERS_MAX;
}
