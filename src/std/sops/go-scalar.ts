// Returns the bytes that SOPS adds to its checksum for an unencrypted value. The bytes depend on the type that go-yaml
// 3 chooses, which differs from the type in Kubernetes: `yes` is a string, `2001-12-14` a time.

/** undefined for null, which adds no bytes. `refused` for values that SOPS cannot read. */
export type Counted = { readonly text: string } | { readonly refused: true } | undefined;

const CORE = 'tag:yaml.org,2002:';
const NULLS = new Set(['', '~', 'null', 'Null', 'NULL']);
const TRUES = new Set(['true', 'True', 'TRUE']);
const FALSES = new Set(['false', 'False', 'FALSE']);
const INFINITE = /^([-+]?)\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = new Set(['.nan', '.NaN', '.NAN']);
const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const MOMENT =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})([.,]\d+)?(Z|[-+]\d\d:\d\d))|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})([.,]\d+)?))?$/;
/** Length of the point and nine digits. Further digits are cut off. */
const NANOSECONDS = 10;
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** Returns the bytes of a value as text. `plain` is true for a value without quotes. */
export function countedScalar(text: string, plain: boolean, tag: string | undefined): Counted {
  if (tag !== undefined && tag !== `${CORE}str`) return { refused: true };
  if (!plain || tag !== undefined) return { text };
  if (NULLS.has(text)) return undefined;
  if (TRUES.has(text)) return { text: 'True' };
  if (FALSES.has(text)) return { text: 'False' };
  const infinite = INFINITE.exec(text);
  if (infinite !== null) return { text: infinite[1] === '-' ? '-Inf' : '+Inf' };
  if (NOT_A_NUMBER.has(text)) return { text: 'NaN' };
  if (!/^[-+.0-9]/.test(text)) return { text };
  return momentOf(text) ?? numberOf(text.startsWith('.') ? text : text.replaceAll('_', '')) ?? { text };
}

function numberOf(text: string): Counted {
  const integer = INTEGER.exec(text);
  if (integer !== null) {
    const [, sign, hex, binary, octal, decimal] = integer;
    const digits = [hex && `0x${hex}`, binary && `0b${binary}`, octal && `0o${octal}`, decimal].find((each) => each);
    const magnitude = BigInt(digits ?? '0');
    const value = sign === '-' ? -magnitude : magnitude;
    if (value >= INT64.min && value <= INT64.max) return { text: String(value) };
    // SOPS refuses integers that fit only an unsigned 64-bit integer. Larger integers are floats.
    if (value > 0n && value < 2n ** 64n) return { refused: true };
  }
  if (!FLOAT.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? { text: plainDigits(value) } : undefined;
}

/** Returns the shortest digits without an exponent, as Go's `FormatFloat(value, 'f', -1, 64)`. */
function plainDigits(value: number): string {
  if (Object.is(value, -0)) return '-0';
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(value)) ?? [];
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/**
 * Returns a time in Go's notation (RFC 3339, no trailing zeros in fractions). Returns undefined if the text is not a
 * time.
 */
function momentOf(text: string): Counted {
  const parts = MOMENT.exec(text);
  if (parts === null) return undefined;
  const [, year = '', month = '', day = '', h1, m1, s1, f1, zone, h2, m2, s2, f2] = parts;
  const [hour = '0', minute = '0', second = '0', fraction = ''] = [h1 ?? h2, m1 ?? m2, s1 ?? s2, f1 ?? f2];
  const fields = [Number(month), Number(day), Number(hour), Number(minute), Number(second)];
  if (!isMoment(Number(year), fields)) return undefined;
  const [mm, dd, hh, mi, ss] = fields.map((field) => String(field).padStart(2, '0'));
  const rest = fraction
    .slice(0, NANOSECONDS)
    .replace(',', '.')
    .replace(/\.?0+$/, '');
  const offset = zone === undefined || /^[-+]00:00$/.test(zone) ? 'Z' : zone;
  return { text: `${year}-${mm}-${dd}T${hh}:${mi}:${ss}${rest}${offset}` };
}

function isMoment(year: number, [month = 0, day = 0, hour = 0, minute = 0, second = 0]: readonly number[]): boolean {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return false;
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
