// Evaluates the literals in a Go template, and finds faults in them. Source: the Go specification, "Integer literals"
// to "String literals"; strconv, "Unquote" and "ParseFloat".

const INTEGER = /^[+-]?(?:0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[0-9a-fA-F])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)$/;
const DIGITS = '[0-9](?:_?[0-9])*';
const DECIMAL = new RegExp(`^[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`);
const HEX = '[0-9a-fA-F]';
const HEXADECIMAL = new RegExp(
  `^[+-]?0[xX](?:((?:_?${HEX})+)(?:\\.((?:${HEX}(?:_?${HEX})*)?))?|\\.(${HEX}(?:_?${HEX})*))[pP]([+-]?${DIGITS})$`,
);

/** Returns the reason why Go cannot read the text as a number; undefined if Go can read it. */
export function numberFault(text: string, type: 'number' | 'complex'): string | undefined {
  const sound = type === 'complex' ? isComplex(text) : isImaginary(text) || isInteger(text) || isFraction(text);
  if (sound) return undefined;
  return INTEGER.test(text) ? `${text} does not fit in 64 bits` : `${JSON.stringify(text)} is not a number`;
}

/**
 * Returns an integer as a bigint, and a float as a number. Returns undefined for complex numbers, invalid texts and
 * integers that do not fit int64.
 */
export function numberValue(text: string): bigint | number | undefined {
  if (!INTEGER.test(text)) return floatValue(text);
  const { negative, size } = integerParts(text);
  const value = negative ? -size : size;
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function integerParts(text: string): { readonly negative: boolean; readonly signed: boolean; readonly size: bigint } {
  const [, sign = '', digits = ''] = /^([+-]?)(.*)$/.exec(text) ?? [];
  const plain = digits.replaceAll('_', '');
  const size = BigInt(/^0[0-7]+$/.test(plain) ? `0o${plain.slice(1)}` : plain);
  return { negative: sign === '-', signed: sign === '+', size };
}

function isInteger(text: string): boolean {
  if (!INTEGER.test(text)) return false;
  const { negative, signed, size } = integerParts(text);
  if (negative) return size <= 2n ** 63n;
  return size < (signed ? 2n ** 63n : 2n ** 64n);
}

/** Returns true if the text is a valid float. `1e3` is a float. */
function isFraction(text: string): boolean {
  return /[.eEpP]/.test(text) && isFloat(text);
}

function isImaginary(text: string): boolean {
  return text.endsWith('i') && isFloat(text.slice(0, -1));
}

function isComplex(text: string): boolean {
  const sign = splitAt(text);
  return isFloat(text.slice(0, sign)) && isFloat(text.slice(sign, -1));
}

/** Returns the index of the sign between the real part and the imaginary part. The sign of an exponent is skipped. */
function splitAt(text: string): number {
  const hex = /^[+-]?0[xX]/.test(text);
  for (let at = 1; at < text.length; at += 1) {
    const before = text[at - 1] ?? '';
    const ofExponent = hex ? /[pP]/.test(before) : /[eE]/.test(before);
    if ((text[at] === '+' || text[at] === '-') && !ofExponent) return at;
  }
  return text.length;
}

function isFloat(text: string): boolean {
  return Number.isFinite(floatValue(text));
}

function floatValue(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text.replaceAll('_', ''));
  const [matched, whole = '', fraction = '', onlyFraction = '', exponent = ''] = HEXADECIMAL.exec(text) ?? [];
  if (matched === undefined) return undefined;
  const part = (fraction + onlyFraction).replaceAll('_', '');
  const mantissa = Number(BigInt(`0x0${whole.replaceAll('_', '')}${part}`));
  const size = mantissa * 2 ** (Number(exponent.replaceAll('_', '')) - 4 * part.length);
  if (mantissa === 0) return 0;
  return text.startsWith('-') ? -size : size;
}

export type Unquoted = { readonly value: string } | { readonly fault: string };

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** Returns the text inside a literal in quotes. Bytes above 127 (`\xff`) are read as Latin-1. */
export function unquote(literal: string): Unquoted {
  const quote = literal[0] ?? '';
  const inside = literal.slice(1, -1);
  if (quote === '`') return { value: inside.replaceAll('\r', '') };
  let value = '';
  for (let at = 0; at < inside.length; ) {
    if (inside[at] !== '\\') {
      value += inside[at];
      at += 1;
      continue;
    }
    const escaped = unescaped(inside, at + 1, quote);
    if (escaped === undefined) return { fault: `${inside.slice(at, at + 2)} is not an escape` };
    value += escaped.char;
    at = escaped.end;
  }
  return { value };
}

/** Returns the Unicode code point of a literal in single quotes. */
export function characterValue(literal: string): bigint | undefined {
  const unquoted = unquote(literal);
  const code = 'value' in unquoted ? unquoted.value.codePointAt(0) : undefined;
  return code === undefined ? undefined : BigInt(code);
}

/** Returns why a literal in single quotes is invalid, or undefined if it is valid. */
export function characterFault(literal: string): string | undefined {
  const unquoted = unquote(literal);
  if ('fault' in unquoted) return unquoted.fault;
  return [...unquoted.value].length === 1
    ? undefined
    : 'single quotes hold one character: write a text in double quotes';
}

interface Escaped {
  readonly char: string;
  readonly end: number;
}

/** Reads one escape sequence. `at` is the index after the backslash. */
function unescaped(text: string, at: number, quote: string): Escaped | undefined {
  const letter = text[at] ?? '';
  const simple = letter === quote ? quote : ESCAPES[letter];
  if (simple !== undefined) return { char: simple, end: at + 1 };
  if (/^[0-7]$/.test(letter)) return coded(/^[0-7]{3}$/, text.slice(at, at + 3), 8, at, 255);
  const length = { x: 2, u: 4, U: 8 }[letter];
  if (length === undefined) return undefined;
  const digits = text.slice(at + 1, at + 1 + length);
  return digits.length === length ? coded(/^[0-9a-fA-F]+$/, digits, 16, at + 1, 0x10ffff) : undefined;
}

function coded(form: RegExp, digits: string, base: number, at: number, most: number): Escaped | undefined {
  const code = Number.parseInt(digits, base);
  const surrogate = code >= 0xd800 && code < 0xe000;
  if (!form.test(digits) || code > most || surrogate) return undefined;
  return { char: String.fromCodePoint(code), end: at + digits.length };
}
