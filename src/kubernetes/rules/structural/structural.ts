// A structural schema of a CRD, ready to default, prune and validate objects as an API server does.

import type { JsonObject } from '#std/json.ts';
import type { Finding } from '../finding.ts';
import type { SchemaCode } from './codes.ts';
import { withDefaults } from './defaults.ts';
import { checkEmbedded } from './embedded.ts';
import { ratchet } from './ratchet.ts';
import type { DescribePattern, Report } from './report.ts';
import { subjectOf, validateRules } from './rules.ts';
import { readSchema, type SchemaNode } from './schema.ts';
import { pruned } from './unknown.ts';
import { validateValue } from './validate.ts';

export interface Structural {
  /** The object with Kubernetes' defaults: nested ones too, but only inside parents that exist. Nulls that are not allowed go. */
  withDefaults(object: JsonObject): JsonObject;
  /** The object without the fields that the schema does not name. Of this and `withDefaults`, what stays as it is is shared. */
  prune(object: JsonObject): JsonObject;
  /** What `prune` would remove, as `fieldValidation=Strict` names it, with a suggestion where one is near. */
  unknownFields(object: JsonObject): readonly Finding[];
  /**
   * Types, bounds, formats, list types, then `x-kubernetes-validations`. `object` has its defaults. `old` is what exists:
   * only with it do transition rules apply. The metadata of the object itself is `checkMetadata`'s.
   */
  validate(object: JsonObject, old?: JsonObject): readonly Finding[];
}

/**
 * Compiles an `openAPIV3Schema`; meant to be kept, compiling is the slow part. `describePattern`: for schemas of this program,
 * because the same pattern may have another meaning in the schemas of others.
 */
export function compileStructural(schema: JsonObject, describePattern?: DescribePattern): Structural {
  const root: SchemaNode = { ...readSchema(schema), embedded: true };
  return {
    withDefaults: (object) => withDefaults(root, object),
    prune: (object) => pruned(root, object, '').object,
    unknownFields: (object) => pruned(root, object, '').unknown,
    validate: (object, old) => validate({ findings: [], describePattern }, root, object, old),
  };
}

/** The rules of a schema alone (`x-kubernetes-validations`), for values whose types are known to fit. */
export function compileRules(schema: JsonObject): (value: JsonObject) => readonly Finding[] {
  const root = readSchema(schema);
  return (value) => {
    const out: Report = { findings: [] };
    validateRules(out, root, subjectOf(value, undefined, '', false));
    return out.findings;
  };
}

const BLOCKING: ReadonlySet<string> = new Set<SchemaCode>(['schema-enum', 'schema-required', 'schema-type']);

/** Rules assume well-formed objects: after such a finding the API server does not evaluate them. */
export function isBlocking({ code }: Finding): boolean {
  return BLOCKING.has(code);
}

function validate(out: Report, root: SchemaNode, object: JsonObject, old: JsonObject | undefined): readonly Finding[] {
  validateValue(out, root, object, '');
  const metadata: Report = { findings: [] };
  checkEmbedded(metadata, root, object, '');
  const kept = old === undefined ? out.findings : ratchet(out.findings, root, object, old);
  const findings = [...kept, ...metadata.findings];
  if (findings.some(isBlocking)) return findings;
  const rules: Report = { findings: [] };
  validateRules(rules, root, subjectOf(object, old, '', false));
  return [...findings, ...rules.findings];
}
