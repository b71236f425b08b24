// Compares definitions of a server with the reviewed definitions.

import { definitionDigest, readDefinition } from '#contracts/tool-lock/digest.ts';
import type { HeldLock, LockMode } from '#contracts/tool-lock/held.ts';
import { LOCKED_LIST_NAMES } from '#contracts/tool-lock/schema.ts';
import { setBounded } from '#std/bounded.ts';
import type { FilteredKey } from '../../wire/methods.ts';

/**
 * Result of comparing a definition with the reviewed definitions of its name. `agrees`: it equals a reviewed
 * definition. `new`: no definition of this name was reviewed. `unreadable`: two JSON readers could read it differently.
 */
export type Agreement = 'agrees' | 'differs' | 'new' | 'unreadable';

export interface Lock {
  readonly mode: LockMode;
  /** Returns the names that have a reviewed definition. undefined if the list is not locked. */
  names(list: FilteredKey): ReadonlyMap<string, unknown> | undefined;
  /** Compares a definition, which must be valid JSON. All definitions of a list that is not locked agree. */
  compare(list: FilteredKey, name: string, definition: Buffer): Agreement;
  /** Called with the names of a list that was read completely. */
  completed?(list: FilteredKey, read: ReadNames): void;
}

interface ReadNames {
  readonly listed: ReadonlySet<string>;
  /** Names with at least one differing definition. A list may contain a name twice. */
  readonly differing: ReadonlySet<string>;
}

const DEFINITIONS_MAX = 20_000;
/** Maximum size of a cached definition. A server with long definitions would otherwise fill the memory. */
const KEPT_MAX = 16_384;

interface Compared {
  readonly definition: Buffer;
  readonly agreement: Agreement;
}

export function openLock(held: HeldLock): Lock {
  const lists = new Map<FilteredKey, ReadonlyMap<string, string>>(
    LOCKED_LIST_NAMES.flatMap((list) => {
      const digests = held[list];
      return digests === undefined ? [] : [[list, new Map(Object.entries(digests))] as const];
    }),
  );
  // Most definitions have the same bytes each time. Comparing bytes takes a hundredth of the time of a digest.
  const compared = new Map<string, Compared>();
  return {
    mode: held.mode,
    names: (list) => lists.get(list),
    compare(list, name, definition) {
      const digests = lists.get(list);
      if (digests === undefined) return 'agrees';
      const reviewed = digests.get(name);
      if (reviewed === undefined) return 'new';
      const key = `${list} ${name}`;
      const known = compared.get(key);
      if (known?.definition.equals(definition) === true) return known.agreement;
      const agreement = compareDigest(reviewed, definition);
      if (definition.length > KEPT_MAX) return agreement;
      setBounded(compared, key, { definition: Buffer.from(definition), agreement }, DEFINITIONS_MAX);
      return agreement;
    },
  };
}

function compareDigest(digests: string, bytes: Buffer): Agreement {
  const definition = readDefinition(bytes);
  if (definition === undefined) return 'unreadable';
  return digests.split(' ').includes(definitionDigest(definition)) ? 'agrees' : 'differs';
}
