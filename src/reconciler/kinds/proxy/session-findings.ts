// Warns of several replicas of a proxy that do not share their sessions.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import type { SessionStorage } from './session.ts';

interface Replicated {
  /** Declared number of proxies. Not set if another controller sets the number. */
  readonly replicas?: number;
  readonly sessionStorage?: Static<typeof SessionStorage>;
  readonly sessionAffinity: 'ClientIP' | 'None';
}

/**
 * Warns of several replicas without a shared store. Every replica accepts session ids of other replicas, but does not
 * have these sessions' data.
 */
export function sessionFindings({ replicas, sessionStorage, sessionAffinity }: Replicated): readonly Finding[] {
  if (replicas === undefined || replicas < 2 || sessionStorage?.provider === 'redis') return [];
  const cost =
    sessionAffinity === 'None'
      ? 'with sessionAffinity None the next request may reach another one, and fail'
      : 'a client whose address changes, or whose replica is replaced, has to start again';
  const message = `event streams, calls that wait for the client, and resumable streams are in the replica that began them: ${cost}. Set sessionStorage to redis to share them`;
  return [{ code: 'session-in-one-replica', severity: 'warning', pointer: '/spec/replicas', message }];
}
