// Converts between CEL's types as cel-go does. Source: CEL language definition, "Standard definitions".

import { formatSeconds, parseGoDuration } from '../../formats/duration.ts';
import { floorDivide, formatTimestamp, parseTimestamp } from '../../formats/timestamp.ts';
import { CelDuration, CelTimestamp } from '../tagged.ts';
import { fail, type Library, OURS } from './library.ts';

interface Unsigned {
  valueOf(): bigint;
}

const MAX_INT = 2n ** 63n - 1n;
const MIN_INT = -(2n ** 63n);
const NS = 1_000_000_000n;

export const CONVERSION_LIBRARY: Library = {
  functions: {
    [`int${OURS}(int): int`]: (value: bigint) => value,
    [`int${OURS}(uint): int`]: (value: Unsigned) => inRange(value.valueOf()),
    [`int${OURS}(double): int`]: intOfDouble,
    [`int${OURS}(string): int`]: (text: string) =>
      /^[+-]?[0-9]+$/.test(text) ? inRange(BigInt(text)) : notConverted('string', 'int'),
    [`int${OURS}(timestamp): int`]: ({ value: ns }: CelTimestamp) => floorDivide(ns, NS),
    [`int${OURS}(duration): int`]: ({ value: ns }: CelDuration) => ns,
    [`double${OURS}(double): double`]: (value: number) => value,
    [`double${OURS}(int): double`]: Number,
    [`double${OURS}(uint): double`]: (value: Unsigned) => Number(value.valueOf()),
    [`double${OURS}(string): double`]: doubleOfText,
    [`bool${OURS}(bool): bool`]: (value: boolean) => value,
    [`bool${OURS}(string): bool`]: boolOfText,
    [`string${OURS}(string): string`]: (value: string) => value,
    [`string${OURS}(bool): string`]: String,
    [`string${OURS}(int): string`]: String,
    [`string${OURS}(uint): string`]: (value: Unsigned) => String(value.valueOf()),
    [`string${OURS}(double): string`]: goDouble,
    [`string${OURS}(bytes): string`]: textOfBytes,
    [`string${OURS}(timestamp): string`]: ({ value: ns }: CelTimestamp) => formatTimestamp(ns),
    [`string${OURS}(duration): string`]: ({ value: ns }: CelDuration) => formatSeconds(ns),
    [`timestamp${OURS}(timestamp): timestamp`]: (value: CelTimestamp) => value,
    [`timestamp${OURS}(int): timestamp`]: (seconds: bigint) => new CelTimestamp(seconds * NS),
    [`timestamp${OURS}(string): timestamp`]: (text: string) => {
      const ns = parseTimestamp(text);
      return ns === undefined ? notConverted('string', 'timestamp') : new CelTimestamp(ns);
    },
    [`duration${OURS}(duration): duration`]: (value: CelDuration) => value,
    [`duration${OURS}(int): duration`]: (ns: bigint) => new CelDuration(ns),
    [`duration${OURS}(string): duration`]: (text: string) => {
      const ns = parseGoDuration(text);
      return ns === undefined ? notConverted('string', 'duration') : new CelDuration(ns);
    },
  },
};

function notConverted(from: string, to: string): never {
  return fail(`type conversion error from '${from}' to '${to}'`);
}

function inRange(value: bigint): bigint {
  return value > MAX_INT || value < MIN_INT ? fail('integer overflow') : value;
}

function intOfDouble(value: number): bigint {
  if (!Number.isFinite(value) || value >= 2 ** 63 || value <= -(2 ** 63)) fail('integer overflow');
  return BigInt(Math.trunc(value));
}

function doubleOfText(text: string): number {
  if (/^[+-]?(inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  const value = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : notConverted('string', 'double');
}

function boolOfText(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  return notConverted('string', 'bool');
}

function textOfBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : fail('invalid UTF-8 in bytes, cannot convert to string');
}

/** Writes a double like Go's shortest `%g`: with an exponent of at least two digits below 1e-4 and from 1e6 on. */
export function goDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e6)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return String(value);
}
