// Parses and evaluates JSON paths of printer columns: `.spec.size`, `.items[0].name`, `.items[*].name`,
// `.labels.example\.dev/x`, `.spec['a','b']`, `.conditions[?(@.type=="Ready")].status`.

import { isObject, type Json } from '#std/json.ts';

type PathStep =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: readonly PathStep[]; readonly equal: boolean; readonly value: Json };

export type JsonPath = readonly PathStep[];

/** Returns undefined if the text has none of the supported forms. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps: PathStep[] = [];
  let position = 0;
  while (position < text.length) {
    const parsed = text[position] === '[' ? parseBracket(text, position) : parseKey(text, position);
    if (parsed === undefined) return undefined;
    steps.push(parsed.step);
    position = parsed.end;
  }
  return steps;
}

interface StepWithEnd {
  readonly step: PathStep;
  readonly end: number;
}

/** Parses a key. A backslash escapes the next character. */
function parseKey(text: string, start: number): StepWithEnd | undefined {
  if (text[start] !== '.') return undefined;
  let key = '';
  let position = start + 1;
  for (; position < text.length && text[position] !== '.' && text[position] !== '['; position += 1) {
    if (text[position] === '\\') position += 1;
    key += text[position] ?? '';
  }
  if (key === '' && text[position] === '[') return parseBracket(text, position);
  if (key === '') return undefined;
  return { step: key === '*' ? { kind: 'all' } : { kind: 'key', key }, end: position };
}

function parseBracket(text: string, start: number): StepWithEnd | undefined {
  const end = closingBracket(text, start);
  if (end < 0) return undefined;
  const inside = text.slice(start + 1, end);
  const step = bracketStep(inside);
  return step === undefined ? undefined : { step, end: end + 1 };
}

function closingBracket(text: string, start: number): number {
  let quote = '';
  for (let position = start; position < text.length; position += 1) {
    const character = text[position] ?? '';
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === ']') return position;
  }
  return -1;
}

/** A union `'a','b'`: the values of the keys that exist. */
const UNION = /^\s*'[^',]*'(\s*,\s*'[^',]*')+\s*$/;

function bracketStep(inside: string): PathStep | undefined {
  if (inside === '*') return { kind: 'all' };
  if (/^-?[0-9]+$/.test(inside)) return { kind: 'index', index: Number(inside) };
  if (UNION.test(inside)) return { kind: 'keys', keys: inside.split(/,/).map((key) => key.trim().slice(1, -1)) };
  const quoted = readLiteral(inside);
  if (typeof quoted === 'string') return { kind: 'key', key: quoted };
  return inside.startsWith('?(@') && inside.endsWith(')') ? filterStep(inside.slice(3, -1)) : undefined;
}

function filterStep(condition: string): PathStep | undefined {
  const operator = condition.includes('!=') ? '!=' : '==';
  const at = condition.indexOf(operator);
  if (at < 0) return undefined;
  const path = parseJsonPath(condition.slice(0, at).trim());
  const value = readLiteral(condition.slice(at + 2).trim());
  if (path === undefined || value === undefined) return undefined;
  return { kind: 'filter', path, equal: operator === '==', value };
}

function readLiteral(text: string): Json | undefined {
  const quote = text[0];
  if ((quote === '"' || quote === "'") && text.endsWith(quote) && text.length > 1) return text.slice(1, -1);
  if (/^-?[0-9]+(\.[0-9]+)?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Returns all values at the path. Empty if a part of the path is absent. */
export function valuesAt(root: Json, path: JsonPath): readonly Json[] {
  return path.reduce<readonly Json[]>((values, step) => values.flatMap((value) => takeStep(value, step)), [root]);
}

function takeStep(value: Json, step: PathStep): readonly Json[] {
  switch (step.kind) {
    case 'key': {
      const child = isObject(value) && Object.hasOwn(value, step.key) ? value[step.key] : undefined;
      return child === undefined ? [] : [child];
    }
    case 'keys':
      return step.keys.flatMap((key) => takeStep(value, { kind: 'key', key }));
    case 'index': {
      const child = Array.isArray(value) ? value.at(step.index) : undefined;
      return child === undefined ? [] : [child];
    }
    case 'all':
      return itemsOf(value);
    case 'filter':
      return itemsOf(value).filter((item) => (valuesAt(item, step.path)[0] === step.value) === step.equal);
  }
}

function itemsOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value).filter((child) => child !== undefined) : [];
}
