// What several replicas of a proxy cost where sessions are in each of them.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import type { SessionStorage } from './session.ts';

interface Replicated {
  /** How many proxies its author wants; undefined where that is left to others. */
  readonly replicas?: number;
  readonly sessionStorage?: Static<typeof SessionStorage>;
  readonly sessionAffinity: 'ClientIP' | 'None';
}

/** Session ids open on every replica; what is lost is what a replica remembers of a session. */
export function sessionFindings({ replicas, sessionStorage, sessionAffinity }: Replicated): readonly Finding[] {
  if (replicas === undefined || replicas < 2 || sessionStorage?.provider === 'redis') return [];
  const cost =
    sessionAffinity === 'None'
      ? 'with sessionAffinity None the next request may reach another one, and fail'
      : 'a client whose address changes, or whose replica is replaced, has to begin anew';
  const message = `event streams, calls that wait for the client, and what can be resumed are in the replica that began them: ${cost}. Set sessionStorage to redis to share them`;
  return [{ code: 'session-in-one-replica', severity: 'warning', pointer: '/spec/replicas', message }];
}
