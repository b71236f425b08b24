// Computes the text that the API server stores for a quantity. `1000m` becomes `1`, `1024Mi` becomes `1Gi`, and `1e9`
// is unchanged.

type Format = 'binary' | 'decimal' | 'exponent';

interface Suffix {
  readonly format: Format;
  /** Power of 2 for `binary`. Power of 10 for the other formats. */
  readonly exponent: number;
}

interface QuantityParts extends Suffix {
  readonly negative: boolean;
  /** Digits before the point without leading zeros. `0` if no digit remains. */
  readonly whole: string;
  readonly decimals: string;
}

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL: ReadonlyMap<number, string> = new Map([
  [-9, 'n'],
  [-6, 'u'],
  [-3, 'm'],
  [0, ''],
  [3, 'k'],
  [6, 'M'],
  [9, 'G'],
  [12, 'T'],
  [15, 'P'],
  [18, 'E'],
]);
const SUFFIXES: ReadonlyMap<string, Suffix> = new Map([
  ...BINARY.map((text, index): [string, Suffix] => [text, { format: 'binary', exponent: 10 * (index + 1) }]),
  ...[...DECIMAL].map(([exponent, text]): [string, Suffix] => [text, { format: 'decimal', exponent }]),
]);

const MAX_INT64 = 2n ** 63n - 1n;
/** Larger than any exponent of an amount within int64. */
const MAX_EXPONENT = 40;

/**
 * Returns the stored text, by the rules of Kubernetes' `resource.Quantity`. undefined if the text is not a quantity,
 * exceeds int64, or has a fraction below one thousandth. Only resource lists round such fractions.
 */
export function storedQuantity(value: string | number): string | undefined {
  const text = String(value).trim();
  const parsed = splitQuantity(text);
  if (parsed === undefined) return undefined;
  const milli = inMilli(parsed);
  if (milli === undefined || milli > MAX_INT64 * 1000n) return undefined;
  return keepsSpelling(text, parsed) ? text : canonical(parsed, milli);
}

function splitQuantity(text: string): QuantityParts | undefined {
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([a-zA-Z]*(?:[+-]?[0-9]+)?)$/.exec(text);
  if (match === null) return undefined;
  const [, sign, digits = '', decimals = '', suffixText = ''] = match;
  if (digits === '' && decimals === '') return undefined;
  const suffix = SUFFIXES.get(suffixText) ?? exponentSuffix(suffixText);
  if (suffix === undefined) return undefined;
  return { ...suffix, negative: sign === '-', whole: digits.replace(/^0+/, '') || '0', decimals };
}

function exponentSuffix(text: string): Suffix | undefined {
  const exponent = /^[eE]([+-]?[0-9]+)$/.exec(text)?.[1];
  if (exponent === undefined || Math.abs(Number(exponent)) > MAX_EXPONENT) return undefined;
  return { format: 'exponent', exponent: Number(exponent) };
}

/** Returns the magnitude in thousandths. undefined if it has a smaller fraction. */
function inMilli({ format, exponent, whole, decimals }: QuantityParts): bigint | undefined {
  const digits = BigInt(whole + decimals);
  const factor = format === 'binary' ? 2n ** BigInt(exponent) : 1n;
  const shift = (format === 'binary' ? 0 : exponent) - decimals.length + 3;
  if (shift >= 0) return digits * factor * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  const scaled = digits * factor;
  return scaled % divisor === 0n ? scaled / divisor : undefined;
}

/**
 * True if the server keeps the text although it is not canonical, because the server did not have to compute the value.
 */
function keepsSpelling(text: string, { format, exponent, whole, decimals }: QuantityParts): boolean {
  if (text === '0') return true;
  if (format === 'binary') {
    if (decimals !== '' || 14 - whole.length - (exponent / 10) * 3 < 0) return false;
    return BigInt(whole) % 8n !== 0n;
  }
  const digits = whole + decimals;
  const scale = exponent - decimals.length;
  if (digits.length > 18 || scale < -9 || scale % 3 !== 0) return false;
  return !digits.startsWith('0') && !digits.endsWith('000');
}

function canonical({ format, negative }: QuantityParts, milli: bigint): string | undefined {
  if (milli === 0n) return '0';
  const text = format === 'binary' && isWholeBinary(milli) ? binary(milli / 1000n) : decimal(milli, format);
  return text === undefined ? undefined : `${negative ? '-' : ''}${text}`;
}

function isWholeBinary(milli: bigint): boolean {
  return milli % 1000n === 0n && milli >= 1024n * 1000n;
}

function binary(amount: bigint): string {
  let mantissa = amount;
  let power = 0;
  while (mantissa % 1024n === 0n && power < BINARY.length) {
    mantissa /= 1024n;
    power += 1;
  }
  return `${mantissa}${power === 0 ? '' : BINARY[power - 1]}`;
}

/** Uses the largest exponent that is a multiple of 3 and leaves a whole mantissa. */
function decimal(milli: bigint, format: Format): string | undefined {
  let mantissa = milli;
  let exponent = -3;
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (format === 'exponent') return `${mantissa}${exponent === 0 ? '' : `e${exponent}`}`;
  const suffix = DECIMAL.get(exponent);
  return suffix === undefined ? undefined : `${mantissa}${suffix}`;
}
