// Collects findings, each worded around the field it is about.

import type { Json } from '#std/json.ts';
import type { Finding } from '../finding.ts';
import type { SchemaCode } from './codes.ts';
import { fieldPath } from './path.ts';

export type DescribePattern = (pattern: string) => string;

export interface Report {
  readonly findings: Finding[];
  /** Predicate of a sentence about a pattern; absent: the pattern itself is shown. */
  readonly describePattern?: DescribePattern | undefined;
}

/** `message` goes on where the field's name ends: "must be a string, not an integer." */
export function report(out: Report, code: SchemaCode, pointer: string, message: string): void {
  out.findings.push({ code, severity: 'error', pointer, message: `${fieldPath(pointer)} ${message}` });
}

/** The definition's schema says what a structural schema may not. */
export function forbid(out: Report, pointer: string, message: string): void {
  report(out, 'schema-not-structural', pointer, message);
}

/** `must be a string, not an integer`, with the way out where YAML read a word or number as something else. */
export function wrongType(wanted: string, value: Json): string {
  const quotes = wanted === 'a string' && (typeof value === 'number' || typeof value === 'boolean');
  return `must be ${wanted}, not ${describeValue(value)}${quotes ? ': put it in quotes' : ''}.`;
}

/** What a value is, to stand behind "not". */
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
