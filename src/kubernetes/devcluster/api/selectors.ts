// Parses the label and field selectors of lists and watches. Each kind defines its selectable fields.

import type { KubeObject } from '../../rules/object.ts';
import { badRequest } from './status.ts';
import { labelValueComplaints, qualifiedNameComplaints } from './validate-metadata.ts';

export type Matcher = (object: KubeObject) => boolean;

type Requirement =
  | { readonly operator: 'exists' | 'absent'; readonly key: string }
  | { readonly operator: 'in' | 'notin'; readonly key: string; readonly values: readonly string[] }
  | { readonly operator: 'gt' | 'lt'; readonly key: string; readonly bound: number };

interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

interface Cursor {
  readonly tokens: readonly Token[];
  position: number;
}

const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'] as const;

/** Parses the value of `labelSelector=`. Throws a 400 if it is invalid. */
export function labelMatcher(text: string): Matcher {
  const requirements = parseLabelSelector(text);
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return requirements.every((requirement) => isMet(requirement, labels));
  };
}

function isMet(requirement: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'notin':
      return value === undefined || !requirement.values.includes(value);
    case 'gt':
      return value !== undefined && Number.parseInt(value, 10) > requirement.bound;
    case 'lt':
      return value !== undefined && Number.parseInt(value, 10) < requirement.bound;
  }
}

function parseLabelSelector(text: string): readonly Requirement[] {
  const cursor: Cursor = { tokens: tokenize(text), position: 0 };
  const requirements: Requirement[] = [];
  if (peek(cursor).kind === 'end') return requirements;
  for (;;) {
    requirements.push(parseRequirement(cursor));
    const token = take(cursor);
    if (token.kind === 'end') return requirements;
    if (token.text !== ',') throw badRequest(`found '${token.text}', expected: ',' or 'end of string'`);
    if (peek(cursor).kind === 'end') throw badRequest("found '', expected: identifier after ','");
  }
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    const symbol = SYMBOLS.find((candidate) => text.startsWith(candidate, position));
    if (symbol !== undefined) {
      tokens.push({ kind: 'symbol', text: symbol });
      position += symbol.length;
    } else if (isBlank(text[position])) {
      position += 1;
    } else {
      const end = endOfWord(text, position);
      tokens.push({ kind: 'word', text: text.slice(position, end) });
      position = end;
    }
  }
  return tokens;
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\r' || character === '\n';
}

function endOfWord(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isBlank(text[end]) && !SYMBOLS.some((symbol) => symbol === text[end])) end += 1;
  return end;
}

function peek(cursor: Cursor): Token {
  return cursor.tokens[cursor.position] ?? { kind: 'end', text: '' };
}

function take(cursor: Cursor): Token {
  const token = peek(cursor);
  cursor.position += 1;
  return token;
}

function parseRequirement(cursor: Cursor): Requirement {
  const first = take(cursor);
  if (first.text === '!') return { operator: 'absent', key: labelKey(take(cursor)) };
  const key = labelKey(first);
  const next = peek(cursor);
  if (next.kind === 'end' || next.text === ',') return { operator: 'exists', key };
  const operator = take(cursor).text;
  switch (operator) {
    case '=':
    case '==':
      return { operator: 'in', key, values: [parseExactValue(cursor, key)] };
    case '!=':
      return { operator: 'notin', key, values: [parseExactValue(cursor, key)] };
    case 'in':
    case 'notin':
      return { operator, key, values: parseValues(cursor, key) };
    case '>':
    case '<':
      return { operator: operator === '>' ? 'gt' : 'lt', key, bound: parseBound(cursor) };
    default:
      throw unparsable(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

function labelKey(token: Token): string {
  if (token.kind !== 'word') throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
  const [complaint] = qualifiedNameComplaints(token.text, 'a valid label key');
  if (complaint !== undefined) throw unparsable(`<nil>: Invalid value: ${JSON.stringify(token.text)}: ${complaint}`);
  return token.text;
}

/** `a=` and `a=,b` compare with the empty text. */
function parseExactValue(cursor: Cursor, key: string): string {
  const next = peek(cursor);
  if (next.kind === 'end' || next.text === ',') return '';
  return labelValue(take(cursor), key, 0);
}

function parseValues(cursor: Cursor, key: string): string[] {
  const open = take(cursor);
  if (open.text !== '(') throw unparsable(`found '${open.text}' expected: '('`);
  const values: string[] = [];
  for (;;) {
    const next = peek(cursor);
    values.push(next.text === ',' || next.text === ')' ? '' : labelValue(take(cursor), key, values.length));
    const separator = take(cursor);
    if (separator.text === ')') return values;
    if (separator.text !== ',') throw unparsable(`found '${separator.text}', expected: ',' or ')'`);
  }
}

function labelValue({ kind, text }: Token, key: string, index: number): string {
  if (kind !== 'word') throw unparsable(`found '${text}', expected: identifier`);
  const [complaint] = labelValueComplaints(text);
  if (complaint === undefined) return text;
  throw unparsable(`values[${index}][${key}]: Invalid value: ${JSON.stringify(text)}: ${complaint}`);
}

function parseBound(cursor: Cursor): number {
  const token = take(cursor);
  if (!/^-?[0-9]+$/.test(token.text)) {
    const why = "for 'Gt', 'Lt' operators, the value must be an integer";
    throw unparsable(`values[0]: Invalid value: ${JSON.stringify(token.text)}: ${why}`);
  }
  return Number(token.text);
}

function unparsable(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

/**
 * Selectable fields of a kind, in addition to `metadata.name` and `metadata.namespace`. Each path has a function that
 * returns the field's value.
 */
export type SelectableFields = Readonly<Record<string, (object: KubeObject) => string>>;

/** Parses the value of `fieldSelector=`: comma-separated terms `path=value`, `path==value` or `path!=value`. */
export function fieldMatcher(text: string, selectable: SelectableFields): Matcher {
  const terms = splitTerms(text).map((term) => parseTerm(term, selectable));
  return (object) => terms.every((term) => term(object));
}

/** Splits at commas. A backslash escapes the next character (`\,`, `\=`, `\\`). */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let position = 0; position < text.length; position += 1) {
    if (text[position] === '\\') position += 1;
    else if (text[position] === ',') {
      terms.push(text.slice(start, position));
      start = position + 1;
    }
  }
  terms.push(text.slice(start));
  return terms.filter((term) => term !== '');
}

function parseTerm(term: string, selectable: SelectableFields): Matcher {
  const operator = ['!=', '==', '='].find((candidate) => splitAt(term, candidate) !== undefined);
  const parts = operator === undefined ? undefined : splitAt(term, operator);
  if (parts === undefined) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [path, escaped] = parts;
  const value = unescaped(escaped);
  const read = reader(path, selectable);
  return operator === '!=' ? (object) => read(object) !== value : (object) => read(object) === value;
}

function splitAt(term: string, operator: string): readonly [string, string] | undefined {
  for (let position = 0; position < term.length; position += 1) {
    if (term[position] === '\\') position += 1;
    else if (term.startsWith(operator, position)) {
      return [term.slice(0, position), term.slice(position + operator.length)];
    }
  }
  return undefined;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([\\,=])/g, '$1');
}

function reader(path: string, selectable: SelectableFields): (object: KubeObject) => string {
  if (path === 'metadata.name') return (object) => object.metadata.name;
  if (path === 'metadata.namespace') return (object) => object.metadata.namespace ?? '';
  const read = Object.hasOwn(selectable, path) ? selectable[path] : undefined;
  if (read !== undefined) return read;
  // For kinds with additional selectable fields, the API uses another message.
  if (Object.keys(selectable).length > 0) throw badRequest(`field label not supported: ${path}`);
  const known = 'only "metadata.name", "metadata.namespace"';
  throw badRequest(`${JSON.stringify(path)} is not a known field selector: ${known}`);
}
