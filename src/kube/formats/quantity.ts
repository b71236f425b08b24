// Amounts such as `500m` and `1Gi` as exact numbers. Knows nothing about how they are stored or spelled.
// Source: apimachinery's resource.Quantity.

/** Billionths: the finest a quantity can be. */
export interface Quantity {
  readonly nano: bigint;
}

const NANO = 1_000_000_000n;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const MAX_DIGITS = 400;

/** Undefined where the text is no quantity. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([a-zA-Z]*|[eE][+-]?[0-9]+)$/.exec(text);
  if (match === null || text.length > MAX_DIGITS) return undefined;
  const [, sign, whole = '', decimals = '', suffix = ''] = match;
  if (whole === '' && decimals === '') return undefined;
  const factor = factorOf(suffix);
  if (factor === undefined) return undefined;
  const numerator = BigInt(whole + decimals) * factor.numerator * NANO;
  const denominator = factor.denominator * 10n ** BigInt(decimals.length);
  // What is finer than a billionth is rounded away from zero: who asks for some shall get some.
  const nano = numerator % denominator === 0n ? numerator / denominator : numerator / denominator + 1n;
  return { nano: sign === '-' ? -nano : nano };
}

function factorOf(suffix: string): { numerator: bigint; denominator: bigint } | undefined {
  const binary = BINARY.indexOf(suffix);
  if (binary >= 0) return { numerator: 1024n ** BigInt(binary), denominator: 1n };
  const decimal = DECIMAL.indexOf(suffix);
  const exponent = decimal >= 0 ? (decimal - 3) * 3 : Number(/^[eE]([+-]?[0-9]{1,3})$/.exec(suffix)?.[1] ?? Number.NaN);
  if (Number.isNaN(exponent)) return undefined;
  const power = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0 ? { numerator: 1n, denominator: power } : { numerator: power, denominator: 1n };
}

/** The whole number; undefined where there is a fraction, or int64 cannot hold it. */
export function wholeOf({ nano }: Quantity): bigint | undefined {
  const whole = nano / NANO;
  if (nano % NANO !== 0n || BigInt.asIntN(64, whole) !== whole) return undefined;
  return whole;
}

export function fromWhole(whole: bigint): Quantity {
  return { nano: whole * NANO };
}

export function approximate({ nano }: Quantity): number {
  return Number(nano) / 1e9;
}
