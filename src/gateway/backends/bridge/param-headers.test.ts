import { expect, it } from 'vitest';
import { paramHeadersMatch, paramHeadersOf, paramHeaderValues } from './param-headers.ts';

const text = (name: unknown) => ({ type: 'string', 'x-mcp-header': name });
const object = (properties: object) => ({ type: 'object', properties });

it('finds annotations of properties and of nested properties', () => {
  const schema = object({
    region: text('Region'),
    'x-mcp-header': { type: 'string' },
    place: object({ city: text('City'), depth: { type: 'integer', 'x-mcp-header': 'Depth' } }),
    example: { type: 'object', default: { 'x-mcp-header': 'no annotation' } },
  });
  expect(paramHeadersOf(schema)).toEqual({
    ok: true,
    headers: [
      { header: 'mcp-param-region', path: ['region'] },
      { header: 'mcp-param-city', path: ['place', 'city'] },
      { header: 'mcp-param-depth', path: ['place', 'depth'] },
    ],
  });
});

it.each([
  { reason: 'an empty name', schema: object({ a: text('') }) },
  { reason: 'a name that is not a token', schema: object({ a: text('a b') }) },
  { reason: 'a name with a line end', schema: object({ a: text('a\r\nb') }) },
  { reason: 'a name that is not a text', schema: object({ a: text(1) }) },
  { reason: 'one name twice', schema: object({ a: text('A'), b: text('a') }) },
  { reason: 'a number', schema: object({ a: { type: 'number', 'x-mcp-header': 'A' } }) },
  { reason: 'an object', schema: object({ a: { type: 'object', 'x-mcp-header': 'A' } }) },
  { reason: 'the root', schema: { type: 'object', 'x-mcp-header': 'A' } },
  { reason: 'elements of a list', schema: object({ a: { type: 'array', items: text('A') } }) },
  { reason: 'alternatives', schema: object({ a: { anyOf: [text('A')] } }) },
  { reason: 'a condition', schema: { if: object({ a: text('A') }) } },
  { reason: 'definitions', schema: { $defs: { a: text('A') } } },
  { reason: 'keys by pattern', schema: { patternProperties: { a: text('A') } } },
])('refuses an annotation: $reason', ({ schema }) => {
  expect(paramHeadersOf(schema).ok).toBe(false);
});

const HEADERS = [
  { header: 'mcp-param-a', path: ['a'] },
  { header: 'mcp-param-b', path: ['o', 'b'] },
];

it('returns header values, and no value for absent arguments', () => {
  expect(paramHeaderValues(HEADERS, { a: 'süd', o: { b: true } })).toEqual({
    'mcp-param-a': '=?base64?c8O8ZA==?=',
    'mcp-param-b': 'true',
  });
  expect(paramHeaderValues(HEADERS, { a: null, o: 'x' })).toEqual({});
  expect(paramHeaderValues(HEADERS, { a: -7, o: { b: 1.5 } })).toEqual({ 'mcp-param-a': '-7' });
});

it.each([
  { args: { a: 'x' }, given: { 'mcp-param-a': 'x' }, match: true },
  { args: { a: 'x' }, given: { 'mcp-param-a': '=?base64?eA==?=' }, match: true },
  { args: { a: 42 }, given: { 'mcp-param-a': '42.0' }, match: true },
  { args: { a: 42 }, given: { 'mcp-param-a': ' ' }, match: false },
  { args: { a: 'x' }, given: { 'mcp-param-a': 'X' }, match: false },
  { args: { a: 'x' }, given: {}, match: false },
  { args: {}, given: { 'mcp-param-a': 'x' }, match: false },
  { args: {}, given: { 'mcp-param-other': 'x' }, match: true },
  { args: { a: 'x' }, given: { 'mcp-param-a': '=?base64?!?=' }, match: false },
])('compares $args with $given', ({ args, given, match }) => {
  const headers: Record<string, string> = {};
  Object.assign(headers, given);
  expect(paramHeadersMatch(HEADERS, args, headers)).toBe(match);
});
