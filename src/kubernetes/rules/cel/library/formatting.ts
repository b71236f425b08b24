// Implements `'%s'.format([...])` and quoting, with exactly the output of cel-go. Source: cel-go ext/strings, version
// 2, which separates thousands with commas (`%f`) and writes exponents as superscripts (`%e`).

import { formatSeconds } from '../../formats/duration.ts';
import { formatTimestamp } from '../../formats/timestamp.ts';
import { CelDuration, CelTimestamp, taggedType } from '../tagged.ts';
import { goDouble } from './conversions.ts';
import { fail, itemsOf, type Library } from './library.ts';

/** Receiver of `strings.quote`. */
const Strings = taggedType<string>();

export const FORMATTING_LIBRARY: Library = {
  types: { stringsfunctions: Strings },
  constants: { strings: ['stringsfunctions', new Strings('strings')] },
  functions: {
    'string.format(list): string': format,
    'stringsfunctions.quote(string): string': (_: unknown, text: string) => quote(text),
  },
};

function format(template: string, list: Iterable<unknown>): string {
  const values = itemsOf(list);
  let used = 0;
  const text = template.replaceAll(/%(?:%|(?:\.([0-9]+))?(.)|$)/gsu, (clause, precision: string, verb: string) => {
    if (clause === '%%') return '%';
    if (verb === undefined) return fail('could not parse formatting clause: unexpected end of string');
    if (used >= values.length) return fail(`index ${used} out of range`);
    return formatOne(verb, values[used++], precision === undefined ? 6 : Number(precision));
  });
  if (used < values.length) {
    fail(`too many arguments supplied to string.format (expected ${used}, got ${values.length})`);
  }
  return text;
}

function formatOne(verb: string, value: unknown, precision: number): string {
  switch (verb) {
    case 's':
      return asText(value, false);
    case 'd':
      return formatInteger(value, 10, 'decimal clause can only be used on integers');
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return formatInteger(value, 2, 'only integers and bools can be formatted as binary');
    case 'o':
      return formatInteger(value, 8, 'octal clause can only be used on integers');
    case 'x':
      return hexadecimal(value);
    case 'X':
      return hexadecimal(value).toUpperCase();
    case 'f':
      return fixed(value, precision);
    case 'e':
      return scientific(value, precision);
    default:
      return fail(`unrecognized formatting clause "${verb}"`);
  }
}

function formatInteger(value: unknown, base: number, complaint: string): string {
  const number = typeof value === 'object' && value !== null ? value.valueOf() : value;
  return typeof number === 'bigint' ? number.toString(base) : fail(complaint);
}

function hexadecimal(value: unknown): string {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return formatInteger(value, 16, 'only integers, byte buffers, and strings can be formatted as hex');
}

function fixed(value: unknown, precision: number): string {
  const number = double(value, 'fixed-point');
  if (typeof number === 'string') return number;
  const [whole = '', fraction] = number.toFixed(precision).split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const RAISED: Readonly<Record<string, string>> = {
  '-': '⁻',
  '0': '⁰',
  '1': '¹',
  '2': '²',
  '3': '³',
  '4': '⁴',
  '5': '⁵',
  '6': '⁶',
  '7': '⁷',
  '8': '⁸',
  '9': '⁹',
};

/** Writes a number in scientific notation. The precision is ignored, as in cel-go. */
function scientific(value: unknown, _precision: number): string {
  const number = double(value, 'scientific');
  if (typeof number === 'string') return number;
  const [mantissa = '', exponent = '0'] = number.toExponential(6).split('e');
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0');
  const raised = [...`${exponent.startsWith('-') ? '-' : ''}${digits}`].map((digit) => RAISED[digit]).join('');
  return `${mantissa}×10${raised}`;
}

function double(value: unknown, clause: string): number | string {
  if (value === 'NaN' || Number.isNaN(value)) return 'NaN';
  if (value === 'Infinity' || value === Number.POSITIVE_INFINITY) return '∞';
  if (value === '-Infinity' || value === Number.NEGATIVE_INFINITY) return '-∞';
  if (typeof value === 'number') return value;
  return fail(`${clause} clause can only be used on doubles`);
}

/** Serialises a value. Inside lists and maps, strings have quotes. */
function asText(value: unknown, nested: boolean): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
      return nested ? JSON.stringify(value) : value;
    case 'number':
      return nested && Number.isFinite(value) ? value.toFixed(6) : goDouble(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return objectText(value, nested);
  }
}

function objectText(value: unknown, nested: boolean): string {
  if (value instanceof CelDuration) return wrapped('duration', formatSeconds(value.value), nested);
  if (value instanceof CelTimestamp) return wrapped('timestamp', formatTimestamp(value.value), nested);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value) || value instanceof Set) {
    return `[${[...value].map((item) => asText(item, true)).join(', ')}]`;
  }
  const entries = value instanceof Map ? [...value] : isPlain(value) ? Object.entries(value) : undefined;
  if (entries !== undefined) {
    const shown = entries.map(([key, item]) => `${asText(key, true)}:${asText(item, true)}`);
    return `{${shown.toSorted().join(', ')}}`;
  }
  const { name, value: unsigned } = { name: nameOfType(value), value: Object(value).valueOf() };
  if (name !== undefined) return name;
  return typeof unsigned === 'bigint' ? String(unsigned) : fail('string clause can only be used on printable values');
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns the name of a type. The engine represents types by a class that prints as `Type<int>`. */
function nameOfType(value: unknown): string | undefined {
  return /^Type<(.*)>$/.exec(String(value))?.[1];
}

function wrapped(name: string, text: string, nested: boolean): string {
  return nested ? `${name}("${text}")` : text;
}

const QUOTES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quote(text: string): string {
  return `"${[...text].map((character) => QUOTES[character] ?? character).join('')}"`;
}
