// Reads quantities such as `500m` and `1Gi` as exact numbers. Source: apimachinery's resource.Quantity.

export interface Quantity {
  /** The amount in billionths, the finest unit of quantities. */
  readonly nano: bigint;
  /** True if the text is a whole number for Kubernetes: `1000m` and `1.0` are not. */
  readonly integral: boolean;
}

const NANO = 1_000_000_000n;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const MAX_DIGITS = 400;
/** Kubernetes stores longer amounts in another form, which it does not treat as an integer. */
const MAX_DECIMAL_DIGITS = 18;
const MAX_BINARY_DIGITS = 14;

interface Scale {
  readonly base: 2 | 10;
  readonly exponent: number;
}

/** Returns undefined if the text is not a quantity. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([a-zA-Z]*|[eE][+-]?[0-9]+)$/.exec(text);
  if (match === null || text.length > MAX_DIGITS) return undefined;
  const [, sign, whole = '', decimals = '', suffix = ''] = match;
  const scale = scaleOf(suffix);
  if (scale === undefined || (whole === '' && decimals === '')) return undefined;
  const nano = inNano(BigInt(whole + decimals), decimals.length, scale);
  return { nano: sign === '-' ? -nano : nano, integral: isIntegral(whole.replace(/^0+/, ''), decimals, scale) };
}

function scaleOf(suffix: string): Scale | undefined {
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: binary * 10 };
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return { base: 10, exponent: (decimal - 3) * 3 };
  const exponent = /^[eE]([+-]?[0-9]{1,3})$/.exec(suffix)?.[1];
  return exponent === undefined ? undefined : { base: 10, exponent: Number(exponent) };
}

/**
 * Converts to billionths. Smaller fractions are rounded away from zero, so that a positive request never becomes zero.
 */
function inNano(digits: bigint, decimals: number, { base, exponent }: Scale): bigint {
  const power = BigInt(base) ** BigInt(Math.abs(exponent));
  const numerator = digits * NANO * (exponent >= 0 ? power : 1n);
  const denominator = 10n ** BigInt(decimals) * (exponent < 0 ? power : 1n);
  return numerator / denominator + (numerator % denominator === 0n ? 0n : 1n);
}

function isIntegral(whole: string, decimals: string, { base, exponent }: Scale): boolean {
  if (base === 2) return decimals === '' && whole.length + Math.trunc(exponent * 0.3) <= MAX_BINARY_DIGITS;
  return exponent >= decimals.length && whole.length + decimals.length <= MAX_DECIMAL_DIGITS;
}

/** Returns undefined if the quantity is not written as a whole number or exceeds int64. */
export function wholeOf({ nano, integral }: Quantity): bigint | undefined {
  const whole = nano / NANO;
  return integral && BigInt.asIntN(64, whole) === whole ? whole : undefined;
}

export function fromWhole(whole: bigint): Quantity {
  return { nano: whole * NANO, integral: true };
}

export function approximate({ nano }: Quantity): number {
  return Number(nano) / 1e9;
}
