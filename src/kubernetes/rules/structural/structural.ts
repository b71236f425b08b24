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
   * Returns the object with defaults: nested ones too, but only inside parents that exist. Nulls that are not allowed
   * are removed.
   */
  withDefaults(object: JsonObject): JsonObject;
  /**
   * Returns the object without the fields that the schema does not have. Like `withDefaults`, it shares unchanged
   * parts.
   */
  prune(object: JsonObject): JsonObject;
  /**
   * Reports the fields that `prune` would remove, as `fieldValidation=Strict` does, with a suggestion if a similar name
   * exists.
   */
  unknownFields(object: JsonObject): readonly Finding[];
  /**
   * Checks types, bounds, formats, list types, then `x-kubernetes-validations`. `object` has its defaults. `old` is the
   * existing object: transition rules apply only with it. Callers check the metadata of the object itself with
   * `checkMetadata`.
   */
  validate(object: JsonObject, old?: JsonObject): readonly Finding[];
}

/**
 * Compiles an `openAPIV3Schema`. Callers should keep the result, because compiling is the slow part. `describePattern`
 * is for schemas of this program, because the same pattern may have another meaning in other schemas.
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

/** Compiles only the rules of a schema (`x-kubernetes-validations`), for values whose types are known to fit. */
export function compileRules(schema: JsonObject): (value: JsonObject) => readonly Finding[] {
  const root = readSchema(schema);
  return (value) => {
    const out: Report = { findings: [] };
    validateRules(out, root, subjectOf(value, undefined, '', false));
    return out.findings;
  };
}

const BLOCKING: ReadonlySet<string> = new Set<SchemaCode>(['schema-enum', 'schema-required', 'schema-type']);

/**
 * Whether rules are not evaluated because of this finding: the API server evaluates them only for well-formed objects.
 */
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
