// Parses `arguments` of a call for policies. Refuses keys that repeat or that differ only in letter case. Parses only
// values that policies read, and limits their size: the engine runs on the event loop, and its time grows faster than
// the size.

import { isObject } from '#std/json.ts';
import { TOO_MANY_KEYS } from '../../wire/json-bytes.ts';
import type { Span } from '../../wire/message.ts';
import { scanValueStrict } from '../../wire/scan.ts';
import { argumentKey, type IndexedArguments, indexArguments } from './attributes.ts';
import { parseExactly } from './exact-json.ts';
import type { Names } from './reads.ts';

interface GivenArguments {
  readonly body: Buffer;
  readonly span: Span;
}

const OPEN_OBJECT = 0x7b;

/**
 * Maximum number of values in one argument, including the argument itself and the members of objects. BYTES_MAX limits
 * the bytes of one argument.
 */
const VALUES_MAX = 1000;
const BYTES_MAX = 64 * 1024;

/**
 * `ambiguous` if two JSON readers could read the arguments differently. `too-large` if a value that policies read
 * exceeds the limits, or if there are more than VALUES_MAX arguments.
 */
export type ReadArguments = IndexedArguments | 'ambiguous' | 'too-large';

/**
 * Parses the arguments that policies read. `names` are attribute names such as `arg_<name>`. If `names` is `all`, the
 * limits apply to all arguments together.
 */
export function readArguments({ body, span }: GivenArguments, names: Names): ReadArguments {
  const known = names === 'all' ? undefined : [...names].flatMap((name) => argumentKey(name) ?? []);
  const members: ArgumentMember[] = [];
  const member = (key: string, value: Span) => void members.push({ key, value });
  const scanned = scanValueStrict(body, span, { known, keysMax: VALUES_MAX, member });
  if (!scanned.ok) return scanned.reason === TOO_MANY_KEYS ? 'too-large' : 'ambiguous';
  if (body[span.start] !== OPEN_OBJECT) return 'ambiguous';
  const shown = known === undefined ? members : members.filter(({ key }) => known.includes(key));
  const room = { bytes: BYTES_MAX, values: VALUES_MAX };
  const values: (readonly [string, unknown])[] = [];
  for (const member of shown) {
    const value = readMember(body, member, known === undefined ? room : { ...room });
    if (value === 'ambiguous' || value === 'too-large') return value;
    values.push([member.key, value.parsed]);
  }
  return indexArguments(
    Object.fromEntries(values),
    members.map(({ key, value }) => ({ key, first: body[value.start] ?? 0 })),
  );
}

interface ArgumentMember {
  readonly key: string;
  readonly value: Span;
}

interface Room {
  bytes: number;
  values: number;
}

/** Parses the value of a member and subtracts its size from `room`. */
function readMember(
  body: Buffer,
  { value: { start, end } }: ArgumentMember,
  room: Room,
): { readonly parsed: unknown } | 'ambiguous' | 'too-large' {
  room.bytes -= end - start;
  if (room.bytes < 0) return 'too-large';
  const parsed = parseExactly(body.toString('utf8', start, end));
  room.values -= countValues(parsed);
  if (room.values < 0) return 'too-large';
  // The scan of the outermost object has already validated texts and keys.
  const unclear = typeof parsed === 'object' && !scanValueStrict(body, { start, end }, { deep: true }).ok;
  return unclear ? 'ambiguous' : { parsed };
}

/** Returns the number of values. Recursion is safe, because the scan of the message limits the depth. */
function countValues(value: unknown): number {
  if (!Array.isArray(value) && (!isObject(value) || JSON.isRawJSON(value))) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1);
}
