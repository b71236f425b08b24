// Converts the arguments that policies read to Cedar attributes `arg_<name>`. Adds `arg_<name>_present` for lists,
// objects and null. Refuses keys that a server could read in another way than the policies.

import type { Names } from './reads.ts';
import { type CedarValue, cedarValue, foldedKey } from './values.ts';

export type Attributes = Record<string, CedarValue>;

export type Built = 'complete' | 'inexpressible' | 'ambiguous';

const ARGUMENT = 'arg_';
const PRESENT = '_present';

export function isArgumentName(name: string): boolean {
  return name.startsWith(ARGUMENT);
}

/**
 * Returns the key of `arguments` that an attribute name `arg_<key>` stands for. undefined for names of other
 * attributes.
 */
export function argumentKey(name: string): string | undefined {
  return isArgumentName(name) ? name.slice(ARGUMENT.length) : undefined;
}

/** Parsed `arguments` of a call. */
export interface IndexedArguments {
  readonly values: Readonly<Record<string, unknown>>;
  /** All keys by their folded form, which ignores letter case. */
  readonly folded: ReadonlyMap<string, readonly string[]>;
  /** Keys of all arguments that are lists, objects or null. */
  readonly compound: ReadonlySet<string>;
}

/** Key with the first byte of its value. */
interface GivenKey {
  readonly key: string;
  readonly first: number;
}

/** First bytes of lists, objects and null: `[`, `{` and n. */
const COMPOUND_STARTS: ReadonlySet<number> = new Set([0x5b, 0x7b, 0x6e]);

export const NO_ARGUMENTS: IndexedArguments = indexArguments({}, []);

export function indexArguments(values: IndexedArguments['values'], keys: readonly GivenKey[]): IndexedArguments {
  const folded = new Map<string, string[]>();
  const compound = new Set<string>();
  for (const { key, first } of keys) {
    const fold = foldedKey(key);
    const same = folded.get(fold);
    if (same === undefined) folded.set(fold, [key]);
    else same.push(key);
    if (COMPOUND_STARTS.has(first)) compound.add(key);
  }
  return { values, folded, compound };
}

/** Adds the arguments in `names` to the attributes `to`. */
export function addArguments(args: IndexedArguments, names: Names, to: Attributes): Built {
  if (names === 'all') return addAll(args, to);
  for (const name of names) {
    const key = argumentKey(name);
    const built = key === undefined ? 'complete' : addArgument(args, name, key, to);
    if (built !== 'complete') return built;
  }
  return 'complete';
}

/** Adds one argument. `name` is the attribute name. */
function addArgument(args: IndexedArguments, name: string, key: string, to: Attributes): Built {
  if (!isExact(args, key)) return 'ambiguous';
  if (!addValue(name, own(args, key), to)) return 'inexpressible';
  if (!key.endsWith(PRESENT)) return 'complete';
  const base = key.slice(0, -PRESENT.length);
  if (!isExact(args, base)) return 'ambiguous';
  return args.compound.has(base) ? addPresent(name, to) : 'complete';
}

function addAll(args: IndexedArguments, to: Attributes): Built {
  for (const keys of args.folded.values()) {
    if (keys.length > 1) return 'ambiguous';
  }
  const entries = Object.entries(args.values);
  for (const [key, value] of entries) {
    if (!addValue(`${ARGUMENT}${key}`, value, to)) return 'inexpressible';
  }
  for (const key of args.compound) {
    if (addPresent(`${ARGUMENT}${key}${PRESENT}`, to) === 'ambiguous') return 'ambiguous';
  }
  return 'complete';
}

/** Returns true if no other key exists that a server may read as this key. */
function isExact({ folded }: IndexedArguments, key: string): boolean {
  const same = folded.get(foldedKey(key));
  return same === undefined || (same.length === 1 && same[0] === key);
}

function own({ values }: IndexedArguments, key: string): unknown {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** Adds the attribute `arg_<name>_present`. Returns `ambiguous` if an argument already has this attribute name. */
function addPresent(name: string, to: Attributes): Built {
  if (Object.hasOwn(to, name)) return 'ambiguous';
  to[name] = true;
  return 'complete';
}

/** Adds a value. Treats null as absent. Returns false if Cedar cannot express the value. */
function addValue(name: string, value: unknown, to: Attributes): boolean {
  if (value === null || value === undefined) return true;
  const expressed = name.isWellFormed() ? cedarValue(value) : undefined;
  if (expressed === undefined) return false;
  to[name] = expressed;
  return true;
}
