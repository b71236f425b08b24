// Defines the dependencies of every operation of the API.

import type { Behaviour } from '../resources/behaviour.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { Store } from '../storage/store.ts';

/** The kinds that are currently served. The table changes when CRDs are created and deleted. */
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
  /** Five characters for names made of `generateName`. */
  readonly newSuffix: () => string;
}

/** RFC 3339 in UTC with whole seconds, as the API writes times. */
export function timestamp(context: ApiContext): string {
  return `${new Date(context.now()).toISOString().slice(0, 19)}Z`;
}
