// Finds settings for a session store that have no effect because no store is used.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import type { SessionStorage } from './session.ts';

const POINTER = '/spec/sessionStorage';

/** Finds settings for a store if sessions are in memory. Does not report `db: 0`, which may be the default. */
export function storeFindings(storage: Static<typeof SessionStorage> | undefined): readonly Finding[] {
  if (storage === undefined || storage.provider === 'redis') return [];
  const { address, db, keyPrefix, passwordRef } = storage;
  const fields = { address, db: db === 0 ? undefined : db, keyPrefix, passwordRef };
  return Object.entries(fields).flatMap(([field, value]) =>
    value === undefined ? [] : [fieldWithoutEffect(`${POINTER}/${field}`, 'provider is memory')],
  );
}

/** Reports a store for sessions if the server stores its sessions itself: its proxy stores no sessions. */
export function ownSessionFindings(storage: Static<typeof SessionStorage> | undefined): readonly Finding[] {
  if (storage?.provider !== 'redis') return [];
  return [fieldWithoutEffect(POINTER, 'a server with transport streamable-http keeps its sessions itself')];
}
