// Computes the condition that warns if several processes do not share their sessions.

import type { Static } from '#std/schema.ts';
import type { ConditionResult } from '../conditions.ts';
import type { SessionStorage } from './session.ts';

/** Condition for a server over streamable HTTP. Such a server stores its sessions itself, so its proxy stores none. */
export const NO_SESSIONS: ConditionResult = {
  type: 'SessionStorageWarning',
  status: 'False',
  reason: 'SessionStorageWarningNotApplicable',
  message: 'the MCP server keeps its sessions itself: any proxy can continue them',
};

/** `processes`: declared number of processes, if declared. `called`: noun for the processes, singular and plural. */
export function sessionCondition(
  storage: Static<typeof SessionStorage> | undefined,
  processes: number | undefined,
  called: readonly [string, string],
): ConditionResult {
  const type = 'SessionStorageWarning';
  if (storage?.provider === 'redis') {
    const message = 'sessions are kept in Redis';
    return { type, status: 'False', reason: 'SessionStorageConfigured', message };
  }
  if ((processes ?? 0) > 1) {
    const message = `several ${called[1]} each keep their own sessions: set sessionStorage to redis, or rely on sessionAffinity`;
    return { type, status: 'True', reason: 'SessionStorageMissingForReplicas', message };
  }
  const message = `no more than one ${called[0]} is declared`;
  return { type, status: 'False', reason: 'SessionStorageWarningNotApplicable', message };
}
