// Reads character classes and escapes of RE2.

import { type Cursor, peek, refusePattern } from './cursor.ts';

/** Inclusive pairs of code points, ascending. */
type Ranges = readonly (readonly [number, number])[];

const MAX_CODE_POINT = 0x10ffff;

const DIGIT: Ranges = [[0x30, 0x39]];
const SPACE: Ranges = [
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
];
const WORD: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const PERL: Readonly<Record<string, Ranges>> = {
  d: DIGIT,
  s: SPACE,
  w: WORD,
  D: complement(DIGIT),
  S: complement(SPACE),
  W: complement(WORD),
};

const UPPER: Ranges = [[0x41, 0x5a]];
const LOWER: Ranges = [[0x61, 0x7a]];
const POSIX: Readonly<Record<string, Ranges>> = {
  alnum: [...DIGIT, ...UPPER, ...LOWER],
  alpha: [...UPPER, ...LOWER],
  ascii: [[0x00, 0x7f]],
  blank: [
    [0x09, 0x09],
    [0x20, 0x20],
  ],
  cntrl: [
    [0x00, 0x1f],
    [0x7f, 0x7f],
  ],
  digit: DIGIT,
  graph: [[0x21, 0x7e]],
  lower: LOWER,
  print: [[0x20, 0x7e]],
  punct: [
    [0x21, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x60],
    [0x7b, 0x7e],
  ],
  space: [
    [0x09, 0x0d],
    [0x20, 0x20],
  ],
  upper: UPPER,
  word: WORD,
  xdigit: [
    [0x30, 0x39],
    [0x41, 0x46],
    [0x61, 0x66],
  ],
};

const CONTROL: Readonly<Record<string, number>> = { a: 0x07, f: 0x0c, t: 0x09, n: 0x0a, r: 0x0d, v: 0x0b };

function complement(ranges: Ranges): Ranges {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [from, to] of ranges) {
    if (from > next) gaps.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= MAX_CODE_POINT) gaps.push([next, MAX_CODE_POINT]);
  return gaps;
}

function formatRanges(ranges: Ranges): string {
  return ranges.map(([from, to]) => (from === to ? codePoint(from) : `${codePoint(from)}-${codePoint(to)}`)).join('');
}

function codePoint(value: number): string {
  return `\\u{${value.toString(16)}}`;
}

/** Reads the part after a backslash outside brackets. Returns the source of a JavaScript expression. */
export function readEscape(cursor: Cursor): string {
  const set = readSet(cursor);
  return set === undefined ? codePoint(readCharacter(cursor)) : `[${set}]`;
}

/** Reads the part after an opening bracket, up to and including the closing one. */
export function readClass(cursor: Cursor): string {
  const negated = peek(cursor) === '^';
  if (negated) cursor.at++;
  let content = '';
  let first = true;
  while (peek(cursor) !== undefined && (first || peek(cursor) !== ']')) {
    content += readItem(cursor);
    first = false;
  }
  if (peek(cursor) === ']') cursor.at++;
  else refusePattern(cursor, 'missing closing ]');
  return `[${negated ? '^' : ''}${content}]`;
}

function readItem(cursor: Cursor): string {
  const posix = readPosix(cursor);
  if (posix !== undefined) return posix;
  if (peek(cursor) === '\\') {
    cursor.at++;
    const set = readSet(cursor);
    if (set !== undefined) return set;
    cursor.at--;
  }
  const from = readBound(cursor);
  if (peek(cursor) !== '-' || peek(cursor, 1) === ']' || peek(cursor, 1) === undefined) return codePoint(from);
  cursor.at++;
  const to = readBound(cursor);
  if (to < from) refusePattern(cursor, 'a range in a class runs backwards');
  return formatRanges([[from, to]]);
}

function readBound(cursor: Cursor): number {
  const next = cursor.text[cursor.at++];
  if (next === undefined) refusePattern(cursor, 'missing closing ]');
  return next === '\\' ? readCharacter(cursor) : (next?.codePointAt(0) ?? 0);
}

/** `[:alpha:]` */
function readPosix(cursor: Cursor): string | undefined {
  if (peek(cursor) !== '[' || peek(cursor, 1) !== ':') return undefined;
  const rest = cursor.text.slice(cursor.at + 2).join('');
  const end = rest.indexOf(':]');
  if (end < 0) return undefined;
  const negated = rest.startsWith('^');
  const name = rest.slice(negated ? 1 : 0, end);
  const ranges = Object.hasOwn(POSIX, name) ? POSIX[name] : undefined;
  cursor.at += 2 + [...rest.slice(0, end)].length + 2;
  if (ranges === undefined) refusePattern(cursor, `there is no class [:${name}:]`);
  return formatRanges(negated ? complement(ranges ?? []) : (ranges ?? []));
}

/** Reads `\d`, `\pL`, `\p{Greek}`. Returns the content of a class, or undefined if a single character follows. */
function readSet(cursor: Cursor): string | undefined {
  const next = peek(cursor) ?? '';
  const perl = Object.hasOwn(PERL, next) ? PERL[next] : undefined;
  if (perl !== undefined) {
    cursor.at++;
    return formatRanges(perl);
  }
  if (next !== 'p' && next !== 'P') return undefined;
  const found = /^[pP](?:\{(\^?)([A-Za-z_]+)\}|([A-Z]))/.exec(cursor.text.slice(cursor.at, cursor.at + 40).join(''));
  if (found === null) {
    refusePattern(cursor, `\\${next} needs the name of a category or script`);
    return '';
  }
  const [whole, caret, braced, letter] = found;
  cursor.at += whole.length;
  const name = braced ?? letter ?? '';
  const negated = (next === 'P') !== (caret === '^');
  const property = name === 'Any' || name.length <= 2 ? name : `Script=${name}`;
  return `\\${negated ? 'P' : 'p'}{${property}}`;
}

/** Returns the character of an escape. The cursor is behind the backslash. */
function readCharacter(cursor: Cursor): number {
  const next = cursor.text[cursor.at++];
  if (next === undefined) return refuseClass(cursor, 'the expression ends in a backslash');
  const control = Object.hasOwn(CONTROL, next) ? CONTROL[next] : undefined;
  if (control !== undefined) return control;
  if (next === 'x') return readHex(cursor);
  if (/^[0-7]$/.test(next)) return readOctal(cursor, next);
  if (/^[A-Za-z0-9]$/.test(next)) return refuseClass(cursor, `\\${next} is no escape of RE2`);
  return next.codePointAt(0) ?? 0;
}

function refuseClass(cursor: Cursor, reason: string): number {
  refusePattern(cursor, reason);
  return 0;
}

function readHex(cursor: Cursor): number {
  const found = /^(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]+)\})/.exec(cursor.text.slice(cursor.at, cursor.at + 10).join(''));
  const value = Number.parseInt(found?.[1] ?? found?.[2] ?? '', 16);
  if (found === null || value > MAX_CODE_POINT) {
    return refuseClass(cursor, '\\x needs two hexadecimal digits, or more in braces');
  }
  cursor.at += found[0].length;
  return value;
}

/** Reads `\0`, `\012`, `\123`. A single digit above zero would be a back reference, which RE2 does not have. */
function readOctal(cursor: Cursor, first: string): number {
  let digits = first;
  while (digits.length < 3 && /^[0-7]$/.test(peek(cursor) ?? '')) digits += cursor.text[cursor.at++];
  if (first !== '0' && digits.length === 1) return refuseClass(cursor, 'RE2 knows no back references');
  return Number.parseInt(digits, 8);
}
