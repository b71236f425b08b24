// Collects findings with a message about their field.

import type { Json } from '#std/json.ts';
import type { Finding } from '../finding.ts';
import type { SchemaCode } from './codes.ts';
import { fieldPath } from './path.ts';

export type DescribePattern = (pattern: string) => string;

export interface Report {
  readonly findings: Finding[];
  /**
   * Returns the text about a pattern that follows the field's name in a message, such as `must be a duration`. If
   * absent, the message shows the pattern itself.
   */
  readonly describePattern?: DescribePattern | undefined;
}

/** `message` follows the field's name: "must be a string, not an integer." */
export function report(out: Report, code: SchemaCode, pointer: string, message: string): void {
  out.findings.push({ code, severity: 'error', pointer, message: `${fieldPath(pointer)} ${message}` });
}

/** Reports a keyword that a structural schema must not have. */
export function forbid(out: Report, pointer: string, message: string): void {
  report(out, 'schema-not-structural', pointer, message);
}

/** Returns `must be a string, not an integer`, with a remedy if YAML parsed unquoted text as another type. */
export function wrongType(expected: string, value: Json): string {
  const quotes = expected === 'a string' && (typeof value === 'number' || typeof value === 'boolean');
  return `must be ${expected}, not ${describeValue(value)}${quotes ? ': put it in quotes' : ''}.`;
}

/** Describes the type of a value, for messages after "not". */
export function describeValue(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? 'an integer' : 'a number with a fraction';
    case 'string':
      return 'a string';
    case 'boolean':
      return 'a boolean';
    case 'object':
      return 'a mapping';
  }
}
