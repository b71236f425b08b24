// A structural schema of a CRD, ready to default, prune and validate objects as an API server does. Knows nothing about
// particular kinds, files or clusters.

import type { JsonObject } from '../../std/json.ts';
import type { Finding } from '../finding.ts';

export interface Structural {
  /** A copy with Kubernetes' defaults: nested ones too, but only inside parents that exist. */
  withDefaults(object: JsonObject): JsonObject;
  /** A copy without the fields that the schema does not name. */
  prune(object: JsonObject): JsonObject;
  /** What `prune` would remove, as `fieldValidation=Strict` names it, with a suggestion where one is near. */
  unknownFields(object: JsonObject): readonly Finding[];
  /**
   * Types, bounds, formats, list types, then `x-kubernetes-validations`. `object` has its defaults. `old` is what lives:
   * only with it do transition rules apply.
   */
  validate(object: JsonObject, old?: JsonObject): readonly Finding[];
}

/** Compiles an `openAPIV3Schema`; meant to be kept, compiling is the slow part. */
export function compileStructural(_schema: JsonObject): Structural {
  throw new Error('compileStructural: not built yet');
}

/** The rules that an API server enforces when a CRD is created: is the schema structural, do its rules compile. */
export function checkStructural(_schema: JsonObject): readonly Finding[] {
  throw new Error('checkStructural: not built yet');
}
