// Finds settings for sessions in a store that have no effect because no store is used.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import type { SessionStorage } from './session.ts';

const POINTER = '/spec/sessionStorage';

/** Finds settings of a store while sessions are in memory. A default cannot be distinguished from a written value. */
export function storeFindings(storage: Static<typeof SessionStorage> | undefined): readonly Finding[] {
  if (storage === undefined || storage.provider === 'redis') return [];
  const { address, db, keyPrefix, passwordRef } = storage;
  const fields = { address, db: db === 0 ? undefined : db, keyPrefix, passwordRef };
  return Object.entries(fields).flatMap(([field, value]) =>
    value === undefined ? [] : [fieldWithoutEffect(`${POINTER}/${field}`, 'provider is memory')],
  );
}

/** The proxy of such a server keeps no session, so any replica can continue it. */
export function ownSessionFindings(storage: Static<typeof SessionStorage> | undefined): readonly Finding[] {
  if (storage?.provider !== 'redis') return [];
  return [fieldWithoutEffect(POINTER, 'a server with transport streamable-http keeps its sessions itself')];
}
