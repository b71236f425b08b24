// Checks a value against the value validations of its schema and collects the faults.

import { closest } from '#std/closest.ts';
import { isObject, type Json, type JsonObject, jsonEquals, pointerToken } from '#std/json.ts';
import { countText } from '#std/words/count-text.ts';
import { fieldOf } from './defaults.ts';
import { reportDuplicateItems } from './list-types.ts';
import { fieldPath } from './path.ts';
import { type Report, report, wrongType } from './report.ts';
import { type Checks, pointerOf, type SchemaNode, type SchemaType } from './schema.ts';

/** Checks the value and everything below it. Messages never contain values, because they may be secret. */
export function validateValue(out: Report, node: SchemaNode, value: Json, pointer: string): void {
  if (value === null) {
    if (!node.nullable && (node.type !== undefined || node.intOrString)) {
      report(out, 'schema-type', pointer, wrongType(typeNames(node), value));
    } else checkEnum(out, node.checks, value, pointer);
    return;
  }
  if (!hasType(node, value)) {
    report(out, 'schema-type', pointer, wrongType(typeNames(node), value));
    return;
  }
  const kinds = node.type === undefined && !node.intOrString ? fittingTypes(node.checks) : [];
  if (kinds.length > 0 && !kinds.some((type) => hasType({ ...node, type }, value))) {
    report(out, 'schema-type', pointer, wrongType(kinds.map((type) => TYPE_NAMES[type]).join(' or '), value));
    return;
  }
  checkEnum(out, node.checks, value, pointer);
  if (typeof value === 'string') checkText(out, node.checks, value, pointer);
  else if (typeof value === 'number') checkNumber(out, node, value, pointer);
  else if (Array.isArray(value)) checkList(out, node, value, pointer);
  else if (isObject(value)) checkObject(out, node, value, pointer);
  checkAlternatives(out, node.checks, value, pointer);
}

function hasType(node: SchemaNode, value: Exclude<Json, null>): boolean {
  if (node.intOrString) return typeof value === 'string' || Number.isInteger(value);
  switch (node.type) {
    case undefined:
      return true;
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === node.type;
  }
}

const TYPE_NAMES: Readonly<Record<SchemaType, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
};

/**
 * For a schema without `type` whose contradictory bounds exclude numbers, lists and booleans, returns the remaining
 * types. For other schemas, returns an empty list.
 */
function fittingTypes({ minimum, maximum, minItems, maxItems, not }: Checks): readonly SchemaType[] {
  const noNumber = minimum !== undefined && maximum !== undefined && minimum > maximum;
  const noList = minItems !== undefined && maxItems !== undefined && minItems > maxItems;
  const excluded = not?.checks.enum ?? [];
  const noBoolean = excluded.includes(true) && excluded.includes(false);
  return noNumber && noList && noBoolean ? ['string', 'object'] : [];
}

function typeNames({ intOrString, type }: SchemaNode): string {
  if (intOrString) return 'an integer or a string';
  return type === undefined ? 'a value' : TYPE_NAMES[type];
}

function checkEnum(out: Report, checks: Checks, value: Json, pointer: string): void {
  const { enum: allowed } = checks;
  if (allowed === undefined || allowed.some((candidate) => jsonEquals(candidate, value))) return;
  const names = allowed.map((candidate) => (typeof candidate === 'string' ? candidate : JSON.stringify(candidate)));
  const near = typeof value === 'string' ? closest(value, names) : undefined;
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  report(out, 'schema-enum', pointer, `must be one of ${names.map((name) => `"${name}"`).join(', ')}.${hint}`);
}

function checkText(out: Report, checks: Checks, value: string, pointer: string): void {
  const { minLength, maxLength, pattern, formatCheck } = checks;
  const length = minLength === undefined && maxLength === undefined ? 0 : characters(value);
  if (minLength !== undefined && length < minLength) {
    const empty = minLength === 1 ? 'must not be empty.' : `must have at least ${minLength} characters, not ${length}.`;
    report(out, 'schema-length', pointer, empty);
  }
  if (maxLength !== undefined && length > maxLength) {
    report(out, 'schema-length', pointer, `must have at most ${maxLength} characters, not ${length}.`);
  }
  if (pattern !== undefined) checkPattern(out, pattern, value, pointer);
  if (formatCheck !== undefined && !formatCheck.accepts(value)) {
    report(out, 'schema-format', pointer, `must be ${formatCheck.meaning}.`);
  }
}

function checkPattern(out: Report, pattern: NonNullable<Checks['pattern']>, value: string, pointer: string): void {
  const { source } = pattern;
  const compiled = pattern.compiled();
  if (!compiled.ok) {
    const message = `${fieldPath(pointer)} could not be checked against ${source}: ${compiled.reason}.`;
    out.findings.push({ code: 'schema-unchecked', severity: 'warning', pointer, message });
    return;
  }
  const fits = compiled.matcher.test(value);
  if (fits === undefined) {
    report(out, 'schema-pattern', pointer, `is too long to be checked against ${source}.`);
  } else if (!fits) {
    const { describePattern = (text) => `must match the pattern ${text}` } = out;
    report(out, 'schema-pattern', pointer, `${describePattern(source)}.`);
  }
}

/** Counts Unicode code points, as the API server does. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function checkNumber(out: Report, node: SchemaNode, value: number, pointer: string): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node.checks;
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    report(out, 'schema-range', pointer, `must be ${exclusiveMinimum ? 'above' : 'at least'} ${minimum}.`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    report(out, 'schema-range', pointer, `must be ${exclusiveMaximum ? 'below' : 'at most'} ${maximum}.`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    report(out, 'schema-range', pointer, `must be a multiple of ${multipleOf}.`);
  }
  const bound = node.type === 'integer' && node.checks.numberFormat === 'int32' ? 2 ** 31 : undefined;
  if (bound !== undefined && (value < -bound || value >= bound)) {
    report(out, 'schema-range', pointer, 'must fit in 32 bits.');
  }
}

/** True if `value` is a multiple of `of`, with a tolerance for the rounding errors of doubles. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function checkList(out: Report, node: SchemaNode, list: Json[], pointer: string): void {
  const { minItems, maxItems } = node.checks;
  if (minItems !== undefined && list.length < minItems) {
    report(out, 'schema-items', pointer, `must have at least ${entries(minItems)}, not ${list.length}.`);
  }
  if (maxItems !== undefined && list.length > maxItems) {
    report(out, 'schema-items', pointer, `must have at most ${entries(maxItems)}, not ${list.length}.`);
  }
  reportDuplicateItems(out, node, list, pointer);
  if (node.items === undefined) return;
  for (const [index, item] of list.entries()) validateValue(out, node.items, item, `${pointer}/${index}`);
}

function entries(count: number): string {
  return countText(count, 'entry', 'entries');
}

function checkObject(out: Report, node: SchemaNode, object: JsonObject, pointer: string): void {
  const { minProperties, maxProperties, required } = node.checks;
  if (minProperties !== undefined || maxProperties !== undefined) checkCount(out, node.checks, object, pointer);
  for (const name of required) {
    if (object[name] === undefined) report(out, 'schema-required', `${pointer}/${pointerToken(name)}`, 'is required.');
  }
  for (const name of Object.keys(object)) {
    const field = fieldOf(node, name);
    const value = object[name];
    if (field !== undefined && value !== undefined) {
      validateValue(out, field, value, pointerOf(pointer, name, field));
    }
  }
}

function checkCount(out: Report, { minProperties, maxProperties }: Checks, object: JsonObject, pointer: string): void {
  const count = Object.values(object).filter((value) => value !== undefined).length;
  if (minProperties !== undefined && count < minProperties) {
    report(out, 'schema-items', pointer, `must have at least ${entries(minProperties)}, not ${count}.`);
  }
  if (maxProperties !== undefined && count > maxProperties) {
    report(out, 'schema-items', pointer, `must have at most ${entries(maxProperties)}, not ${count}.`);
  }
}

function checkAlternatives(out: Report, checks: Checks, value: Json, pointer: string): void {
  for (const part of checks.allOf) validateValue(out, part, value, pointer);
  if (checks.anyOf.length > 0 && !checks.anyOf.some((part) => fits(part, value))) {
    report(
      out,
      'schema-alternative',
      pointer,
      `fits none of the alternatives. ${nearest(checks.anyOf, value, pointer)}`,
    );
  }
  if (checks.oneOf.length > 0) {
    const count = checks.oneOf.filter((part) => fits(part, value)).length;
    if (count === 0) {
      const why = nearest(checks.oneOf, value, pointer);
      report(out, 'schema-alternative', pointer, `fits none of the alternatives. ${why}`);
    } else if (count > 1) {
      report(out, 'schema-alternative', pointer, `fits ${count} alternatives that exclude each other.`);
    }
  }
  if (checks.not !== undefined && fits(checks.not, value)) {
    report(out, 'schema-alternative', pointer, 'is excluded by the schema.');
  }
}

function fits(node: SchemaNode, value: Json): boolean {
  const out: Report = { findings: [] };
  validateValue(out, node, value, '');
  return out.findings.every(({ severity }) => severity !== 'error');
}

/** Returns the messages for the alternative with the fewest faults. */
function nearest(parts: readonly SchemaNode[], value: Json, pointer: string): string {
  const tried = parts.map((part) => {
    const out: Report = { findings: [] };
    validateValue(out, part, value, pointer);
    return out.findings;
  });
  const [best = []] = tried.toSorted((a, b) => a.length - b.length);
  return best.map(({ message }) => message).join(' ');
}
