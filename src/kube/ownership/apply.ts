// What an API server does to an object and its managedFields on apply and on any other write.
// Knows nothing about requests, storage, defaults or validation beyond the merge itself.

import assert from 'node:assert/strict';
import type { KubeObject } from '../object.ts';
import type { MergeType } from '../openapi.ts';

export interface WriteContext {
  readonly type: MergeType;
  /** The field manager; the empty string is recorded as `unknown`. */
  readonly manager: string;
  /** Version of the request, written to the manager's entry. */
  readonly apiVersion: string;
  readonly subresource?: string;
  /** RFC 3339, whole seconds, UTC: `2026-01-01T00:00:00Z`. */
  readonly time: string;
  /**
   * Paths that this endpoint never writes and hence nobody owns through it, as keys from the root.
   * Default: `status` for the main resource, `spec` for the subresource `status`, nothing for others.
   */
  readonly reset?: readonly (readonly string[])[];
}

export interface ApplyRequest extends WriteContext {
  /** As stored; absent when the object does not exist. */
  readonly live?: KubeObject;
  /** As sent, without managedFields. */
  readonly applied: KubeObject;
  readonly force: boolean;
}

export interface Conflict {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly time?: string;
  /** As the API server writes it: `.spec.template.spec.containers[name="a"].image`. */
  readonly path: string;
}

/**
 * `object`: the merged object with its new managedFields, before defaulting, pruning and validation; the caller compares
 * what it would store with what is stored (`keepTimes`). `conflicts`: sorted by manager and path. `invalid`: the applied
 * object does not fit its type; each text names the place.
 */
export type ApplyResult =
  | { readonly object: KubeObject }
  | { readonly conflicts: readonly Conflict[] }
  | { readonly invalid: readonly string[] };

export interface UpdateRequest extends WriteContext {
  /** As stored; absent for a create. */
  readonly before?: KubeObject;
  /** As it will be stored, defaults included, `metadata.managedFields` as the client sent them. */
  readonly after: KubeObject;
}

/** Server-side apply (Kubernetes documentation, "Server-Side Apply"). */
export function serverSideApply(request: ApplyRequest): ApplyResult {
  return assert.fail(`not built yet: ${request.manager}`);
}

/** Gives `after` the managedFields of a POST, PUT or PATCH that is no apply. */
export function trackUpdate(request: UpdateRequest): KubeObject {
  return assert.fail(`not built yet: ${request.manager}`);
}

/**
 * `before` itself where `after` differs from it in nothing but the times of managedFields: nothing is written then.
 * To be called on what would be stored, resourceVersion and generation not yet moved.
 */
export function keepTimes(before: KubeObject, after: KubeObject): KubeObject {
  return assert.fail(`not built yet: ${before.kind} ${after.kind}`);
}
