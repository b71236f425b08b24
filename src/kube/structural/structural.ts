// A structural schema of a CRD, ready to default, prune and validate objects as an API server does. Knows nothing about
// particular kinds, files or clusters.

import type { JsonObject } from '../../std/json.ts';
import type { Finding } from '../finding.ts';
import { withDefaults } from './defaults.ts';
import type { Report } from './report.ts';
import { readSchema } from './schema.ts';
import { pruned } from './unknown.ts';
import { validateValue } from './validate.ts';

export interface Structural {
  /** A copy with Kubernetes' defaults: nested ones too, but only inside parents that exist. Nulls that are not allowed go. */
  withDefaults(object: JsonObject): JsonObject;
  /** A copy without the fields that the schema does not name. */
  prune(object: JsonObject): JsonObject;
  /** What `prune` would remove, as `fieldValidation=Strict` names it, with a suggestion where one is near. */
  unknownFields(object: JsonObject): readonly Finding[];
  /**
   * Types, bounds, formats, list types, then `x-kubernetes-validations`. `object` has its defaults. `old` is what lives:
   * only with it do transition rules apply. The metadata of the object itself is `checkMetadata`'s.
   */
  validate(object: JsonObject, old?: JsonObject): readonly Finding[];
}

/** Compiles an `openAPIV3Schema`; meant to be kept, compiling is the slow part. */
export function compileStructural(schema: JsonObject): Structural {
  const root = readSchema(schema);
  return {
    withDefaults: (object) => withDefaults(root, object),
    prune: (object) => pruned({ ...root, embedded: true }, object, '').object,
    unknownFields: (object) => pruned({ ...root, embedded: true }, object, '').unknown,
    validate(object, _old) {
      const out: Report = { findings: [] };
      validateValue(out, root, object, '');
      return out.findings;
    },
  };
}

/** The rules that an API server enforces when a CRD is created: is the schema structural, do its rules compile. */
export function checkStructural(_schema: JsonObject): readonly Finding[] {
  throw new Error('checkStructural: not built yet');
}
