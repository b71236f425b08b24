// Warns of several replicas of a proxy that do not share their sessions.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import type { SessionStorage } from './session.ts';

interface Replicated {
  /** Declared number of proxies; undefined if another controller sets it. */
  readonly replicas?: number;
  readonly sessionStorage?: Static<typeof SessionStorage>;
  readonly sessionAffinity: 'ClientIP' | 'None';
}

/** Every replica accepts the session ids of the other replicas, but does not have their data about the session. */
export function sessionFindings({ replicas, sessionStorage, sessionAffinity }: Replicated): readonly Finding[] {
  if (replicas === undefined || replicas < 2 || sessionStorage?.provider === 'redis') return [];
  const cost =
    sessionAffinity === 'None'
      ? 'with sessionAffinity None the next request may reach another one, and fail'
      : 'a client whose address changes, or whose replica is replaced, has to start again';
  const message = `event streams, calls that wait for the client, and resumable streams are in the replica that began them: ${cost}. Set sessionStorage to redis to share them`;
  return [{ code: 'session-in-one-replica', severity: 'warning', pointer: '/spec/replicas', message }];
}
