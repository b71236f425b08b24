// Checks that a default is valid by its own schema.

import type { Json } from '#std/json.ts';
import { isObject, jsonEquals } from '#std/json.ts';
import { fieldPath } from '../path.ts';
import type { Report } from '../report.ts';
import { subjectOf, validateRules } from '../rules.ts';
import type { SchemaNode } from '../schema.ts';
import { pruned } from '../unknown.ts';
import { validateValue } from '../validate.ts';

export function checkDefault(out: Report, node: SchemaNode, value: Json | undefined, pointer: string): void {
  if (value === undefined || value === null) return;
  const found: Report = { findings: [] };
  validateValue(found, node, value, pointer);
  if (isObject(value)) {
    const { object, unknown } = pruned(node, value, pointer);
    if (!jsonEquals(object, value)) found.findings.push(...unknown);
  }
  if (found.findings.length === 0) validateRules(found, node, subjectOf(value, undefined, pointer, false));
  for (const { code, severity, message } of found.findings) {
    if (severity !== 'error' || code === 'cel-compile') continue;
    const said = `${fieldPath(pointer)} is not a valid default: ${message}`;
    out.findings.push({ code: 'schema-not-structural', severity, pointer, message: said });
  }
}
