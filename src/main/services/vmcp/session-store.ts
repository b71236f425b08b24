// Where a virtual server keeps its sessions, as its configuration says.

import type { Logger } from 'pino';
import { VMCP_ENV, type VmcpConfig } from '../../../contracts/vmcp-config.ts';
import type { Environment } from '../../../std/environment.ts';
import { Failure } from '../../../std/failure.ts';
import type { SessionStore } from '../../../vmcp/sessions/ports.ts';

const IDLE_SECONDS = 7200;

/** Undefined: sessions are this replica's own. Throws a Failure where the store cannot be used. */
export async function openStore(
  { sessionStorage, name }: VmcpConfig,
  namespace: string,
  environment: Environment,
  logger: Logger,
): Promise<SessionStore | undefined> {
  if (sessionStorage === undefined) return undefined;
  if (environment[VMCP_ENV.sessionHmacSecret] === undefined) {
    const message = `/sessionStorage needs the variable ${VMCP_ENV.sessionHmacSecret}: replicas without a common key do not understand each other`;
    throw new Failure('vmcp-config-invalid', message);
  }
  const { openSessionStore } = await import('../../../adapters/redis/session-store.ts');
  const { address, db, keyPrefix: prefix = `skep:${namespace}:${name}:` } = sessionStorage;
  const password = () => environment[VMCP_ENV.sessionRedisPassword];
  return openSessionStore({ address, db, prefix, password, idleSeconds: IDLE_SECONDS }, (message) => {
    logger.warn({ code: 'redis-unreachable', message }, 'the store of sessions cannot be reached');
  });
}
