// The first stage: documents of one source become resources, each valid or named in a problem with its place.
// Knows nothing about clusters, other sources, or what a spec means.

import type { Kind, Resource } from '../kinds/kind.ts';
import type { KubeObject } from '../kube/object.ts';
import type { OpenApiDocument } from '../kube/openapi.ts';
import type { Place, Problem, ResourceId } from '../std/problem.ts';

/** One file of a source. */
export interface SourceFile {
  /** As problems name it. Only `*.yaml`, `*.yml` and `*.json` are read. */
  readonly path: string;
  /** Equal ids mean equal text (a Git blob id, or a digest). */
  readonly oid: string;
  readonly text: string;
}

export interface LoadInput {
  /** Name of the source. */
  readonly source: string;
  readonly documents: readonly SourceFile[];
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  /** OpenAPI document of a built-in group-version; undefined where the apiVersion is not built in. */
  readonly builtin: (apiVersion: string) => OpenApiDocument | undefined;
  /** For namespaced objects that name none. Without it, that is a problem. */
  readonly defaultNamespace?: string;
  /** Keeps what was read of unchanged files between runs. */
  readonly cache?: LoadCache;
}

/** Map-like; keys are digests of path, blob and schemas, values are opaque. */
export interface LoadCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

export interface LoadedResource {
  readonly id: ResourceId;
  /** As it is to be applied: what the author wrote, nothing defaulted but the namespace. */
  readonly object: KubeObject;
  /** Of our kinds only: the kind. */
  readonly kind?: Kind;
  /** Of our kinds only: the object with the schema's defaults, for the kind's own logic. */
  readonly defaulted?: Resource;
  /** Where the value (or the key) at a JSON pointer is written; the nearest enclosing key where it is not. */
  place(pointer: string, at?: 'key' | 'value'): Place;
}

export interface Loaded {
  /** Everything identified, by first appearance; also what is in `invalid`. */
  readonly resources: readonly LoadedResource[];
  readonly problems: readonly Problem[];
  /** True where a document could not be identified: nothing of the source may be deleted then. */
  readonly unidentified: boolean;
  /** Identified, but not fit to be applied: to be held as they live. */
  readonly invalid: readonly ResourceId[];
}

export function load(_input: LoadInput): Loaded {
  throw new Error('load: not built yet');
}
