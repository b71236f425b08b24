// Prints, quotes and escapes values as Go does. Source: Go 1.26, fmt, "Printing"; strconv, "Quote"; encoding/json,
// "Marshal"; text/template, "Functions".

import type { Json } from '#std/json.ts';
import { stop } from './budget.ts';
import { fromData, isList, isMap, sortedKeys, type Value } from './values.ts';

const DEPTH_MAX = 500;

/** Prints a value with all values inside it. `each` prints a value that is neither list nor map. */
export function printNested(value: Value, each: (value: Value) => string, depth = 0): string {
  if (depth > DEPTH_MAX) stop(`a value is nested deeper than ${DEPTH_MAX} levels`);
  if (isList(value)) return `[${value.map((item) => printNested(fromData(item), each, depth + 1)).join(' ')}]`;
  if (!isMap(value)) return each(value);
  const items = sortedKeys(value).map((key) => `${each(key)}:${printNested(fromData(value[key]), each, depth + 1)}`);
  return `map[${items.join(' ')}]`;
}

/** Prints a value like `%v` of Go. */
export function printValue(value: Value): string {
  return printNested(value, printPlain);
}

function printPlain(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  return typeof value === 'number' ? formatFloat(value, 'g', undefined) : String(value);
}

/** Prints values like Sprint of Go: adds a blank between two values if neither is a text. */
export function printAll(values: readonly Value[]): string {
  return values
    .map((value, index) => {
      const before = values[index - 1];
      const apart = index > 0 && typeof value !== 'string' && typeof before !== 'string';
      return (apart ? ' ' : '') + printValue(value);
    })
    .join('');
}

/** Prints arguments of the functions that escape text. Undefined and null are printed as `<no value>`. */
export function printArguments(values: readonly Value[]): string {
  return printAll(values.map((value) => value ?? '<no value>'));
}

/**
 * `digits`: number of digits after the point. For verb `g`: number of significant digits. If undefined, all necessary
 * digits are printed.
 */
export function formatFloat(value: number, verb: 'e' | 'f' | 'g', digits: number | undefined): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const zero = Object.is(value, -0) ? '-' : '';
  switch (verb) {
    case 'f':
      return zero + plainFloat(value, digits);
    case 'e':
      return zero + exponential(value, digits);
    case 'g':
      return zero + general(value, digits === 0 ? 1 : digits);
  }
}

function exponential(value: number, digits: number | undefined): string {
  const [mantissa = '', exponent = ''] = rounded(value, 'toExponential', digits).split('e');
  return `${padDigits(mantissa, digits)}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, '0')}`;
}

/** JavaScript formats at most 100 digits. Zeros are added for further digits. */
const DIGITS_MAX = 100;

/**
 * Rounds like Go: if two results are equally near, Go chooses the result whose last digit is even. JavaScript chooses
 * the result that is farther from zero.
 */
function rounded(value: number, form: 'toFixed' | 'toExponential', digits: number | undefined): string {
  if (digits === undefined) return value[form](undefined);
  const [exact = '', exponent] = value[form](DIGITS_MAX).split('e');
  const point = exact.indexOf('.');
  const truncated = exact.slice(0, digits === 0 ? point : point + 1 + digits);
  const inTheMiddle = digits < DIGITS_MAX && /^50*$/.test(exact.slice(point + 1 + digits));
  if (!inTheMiddle || '13579'.includes(truncated.slice(-1))) return value[form](Math.min(digits, DIGITS_MAX));
  return exponent === undefined ? truncated : `${truncated}e${exponent}`;
}

function padDigits(text: string, digits: number | undefined): string {
  return digits === undefined || digits <= DIGITS_MAX ? text : text + '0'.repeat(digits - DIGITS_MAX);
}

function plainFloat(value: number, digits: number | undefined): string {
  if (digits === undefined) return shortestPlain(value);
  if (Math.abs(value) < 1e21) return padDigits(rounded(value, 'toFixed', digits), digits);
  return BigInt(value).toString() + (digits === 0 ? '' : `.${'0'.repeat(digits)}`);
}

function shortestPlain(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  const all = mantissa.replace('-', '').replace('.', '');
  const point = Number(exponent) + 1;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${all}`;
  const whole = all.slice(0, point).padEnd(point, '0');
  return sign + whole + (all.length > point ? `.${all.slice(point)}` : '');
}

/** Maximum number of digits before the point that Go writes without an exponent, if `digits` is undefined. */
const SHORTEST_LIMIT = 6;

function general(value: number, digits: number | undefined): string {
  const plain = rounded(value, 'toExponential', digits === undefined ? undefined : digits - 1);
  const [mantissa = '', exponent = '0'] = plain.split('e');
  const bare = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  const size = bare.replace(/[-.]/g, '').length;
  const power = Number(exponent);
  const limit = digits === undefined ? SHORTEST_LIMIT : digits > size && size > power ? size : digits;
  if (power < -4 || power >= limit) return exponential(Number(plain), size - 1);
  return shortestPlain(Number(plain));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

/** Characters for which Go's unicode.IsPrint returns true. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Writes a text as a literal of Go. If `ascii`, all characters outside ASCII are escaped. */
export function quoteText(text: string, ascii: boolean, mark: '"' | "'" = '"'): string {
  let quoted = mark;
  for (const char of text) quoted += char === mark ? `\\${char}` : (ESCAPES[char] ?? quoteCharacter(char, ascii));
  return quoted + mark;
}

function quoteCharacter(char: string, ascii: boolean): string {
  const code = char.codePointAt(0) ?? 0;
  if (PRINTABLE.test(char) && (!ascii || code < 0x80)) return char;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  if (code >= 0xd800 && code < 0xe000) return ascii ? '\\ufffd' : '\ufffd';
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, length: number): string {
  return code.toString(16).padStart(length, '0');
}

/** Writes JSON like Go's json.Marshal: with sorted keys, and `<`, `>` and `&` escaped. */
export function formatJson(value: Value): string {
  return jsonOf(value, 0)
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

function jsonOf(value: Value, depth: number): string {
  if (depth > DEPTH_MAX) stop(`a value is nested deeper than ${DEPTH_MAX} levels`);
  if (isList(value)) return `[${value.map((item: Json) => jsonOf(fromData(item), depth + 1)).join(',')}]`;
  if (isMap(value)) {
    const items = sortedKeys(value).map((key) => `${JSON.stringify(key)}:${jsonOf(fromData(value[key]), depth + 1)}`);
    return `{${items.join(',')}}`;
  }
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value ?? null);
}

const HTML: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[\0"'&<>]/g, (char) => HTML[char] ?? char);
}

export function escapeJs(text: string): string {
  let escaped = '';
  for (const char of text) escaped += escapeJsCharacter(char);
  return escaped;
}

function escapeJsCharacter(char: string): string {
  if (char === '\\' || char === "'" || char === '"') return `\\${char}`;
  const code = char.codePointAt(0) ?? 0;
  if ('<>&='.includes(char) || code < 0x20) return `\\u${hex(code, 4).toUpperCase()}`;
  if (code < 0x80 || PRINTABLE.test(char)) return char;
  return `\\u${hex(code, 4).toUpperCase()}`;
}

/** Escapes a text like Go's url.QueryEscape. */
export function escapeQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${hex(char.charCodeAt(0), 2).toUpperCase()}`)
    .replaceAll('%20', '+');
}
