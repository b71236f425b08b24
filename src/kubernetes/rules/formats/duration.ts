// Reads and writes durations as Go's time package does.

const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const GROUP = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/y;
const MAX_NS = 2n ** 63n - 1n;

/** Returns nanoseconds. undefined if Go's `time.ParseDuration` would fail. */
export function parseGoDuration(text: string): bigint | undefined {
  const negative = text.startsWith('-');
  const unsigned = /^[-+]/.test(text) ? text.slice(1) : text;
  if (unsigned === '0') return 0n;
  if (unsigned === '') return undefined;
  let total = 0n;
  GROUP.lastIndex = 0;
  while (GROUP.lastIndex < unsigned.length) {
    const [, whole = '', fraction = '', unit = ''] = GROUP.exec(unsigned) ?? [];
    const scale = UNIT_NS[unit];
    if (scale === undefined || (whole === '' && fraction === '')) return undefined;
    total += BigInt(whole === '' ? 0 : whole) * scale;
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
    if (total > MAX_NS) return undefined;
  }
  return negative ? -total : total;
}

/** Serialises a duration as CEL and protobuf's JSON do: seconds with an optional fraction. */
export function formatSeconds(ns: bigint): string {
  const magnitude = ns < 0n ? -ns : ns;
  const fraction = (magnitude % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${ns < 0n ? '-' : ''}${magnitude / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`;
}
