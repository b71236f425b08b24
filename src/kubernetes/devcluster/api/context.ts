// Defines the dependencies of all API operations.

import type { Behaviour } from '../resources/behaviour.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { Store } from '../storage/store.ts';

/** The served kinds. The table changes when CRDs are created and deleted. */
export interface TypeTable {
  readonly all: () => readonly ResourceType[];
  readonly find: (group: string, version: string, plural: string) => ResourceType | undefined;
  readonly behaviourOf: (type: ResourceType) => Behaviour;
}

export interface ApiContext {
  readonly store: Store;
  readonly types: TypeTable;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly newUid: () => string;
  /** Returns the five random characters of a generated name (`generateName`). */
  readonly newSuffix: () => string;
}

/** Returns the current time as the API writes it: RFC 3339 in UTC with whole seconds. */
export function timestamp(context: ApiContext): string {
  return `${new Date(context.now()).toISOString().slice(0, 19)}Z`;
}
