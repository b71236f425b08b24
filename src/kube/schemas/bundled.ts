// The built-in kinds this program knows without a cluster: how they merge, and how they are named in URLs.
// Knows nothing about custom resources.

import assert from 'node:assert/strict';
import type { OpenApiDocument } from '../openapi.ts';

export interface BundledKind {
  /** `v1`, `apps/v1`, ... */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
}

/** The merge facts of a built-in group-version, as the API server publishes them; undefined where it is not bundled. */
export function bundledSchema(apiVersion: string): OpenApiDocument | undefined {
  return assert.fail(`not built yet: ${apiVersion}`);
}

export function bundledKinds(): readonly BundledKind[] {
  return assert.fail('not built yet');
}
