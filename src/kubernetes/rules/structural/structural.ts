// Compiles a structural schema of a CRD, to default, prune and validate objects as an API server does.

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
  /**
   * Returns the object with defaults, including nested defaults inside parents that exist. Removes nulls that are not
   * allowed.
   */
  withDefaults(object: JsonObject): JsonObject;
  /** Returns the object without undeclared fields. Shares unchanged parts with the argument. */
  prune(object: JsonObject): JsonObject;
  /**
   * Reports the fields that `prune` would remove, as `fieldValidation=Strict` does. Suggests a similar name if one
   * exists.
   */
  unknownFields(object: JsonObject): readonly Finding[];
  /**
   * Checks types, bounds, formats and list types, then `x-kubernetes-validations`. `object` must have its defaults.
   * `old` is the existing object. Without `old`, transition rules are skipped. Callers check the metadata of the object
   * itself with `checkMetadata`.
   */
  validate(object: JsonObject, old?: JsonObject): readonly Finding[];
}

/**
 * Compiles an `openAPIV3Schema`. Compiling is slow, so callers should keep the result. `describePattern` is only for
 * skep's own schemas, because a pattern may have another meaning in other schemas.
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

/**
 * Compiles only the validation rules of a schema (`x-kubernetes-validations`). Values must already have the right
 * types.
 */
export function compileRules(schema: JsonObject): (value: JsonObject) => readonly Finding[] {
  const root = readSchema(schema);
  return (value) => {
    const out: Report = { findings: [] };
    validateRules(out, root, subjectOf(value, undefined, '', false));
    return out.findings;
  };
}

const BLOCKING: ReadonlySet<string> = new Set<SchemaCode>(['schema-enum', 'schema-required', 'schema-type']);

/** True if rules are not evaluated after this finding. The API server evaluates rules only for well-formed objects. */
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
