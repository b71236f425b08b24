// Defines members, the servers behind a virtual server, and converts client requests for members.

import type { Backend, Exchange } from '../../backends/backend.ts';
import type { Cause } from '../../backends/bridge/ask.ts';
import { authorizeAs } from '../../credentials/authorize.ts';
import type { Credential } from '../../credentials/credential.ts';
import type { Lock } from '../../gate/tools-lock/lock.ts';
import type { MemberHealth } from '../health/member-health.ts';
import { withCarriedExtensions } from './carried.ts';

export interface Member {
  /** Name of a Kubernetes object, so it contains no spaces. */
  readonly name: string;
  readonly url: string;
  readonly transport: 'sse' | 'streamable-http';
  /** Backend of the member. A bridge converts requests if the member speaks another revision. */
  readonly backend: Backend;
  readonly credential: Credential;
  /** Type of the authentication, shown to operators. */
  readonly authType: string;
  /** True if a caller needs a token of an upstream provider for the member. */
  readonly needsProvider: boolean;
  /** True if the member's lists may differ between callers, because each caller has its own credentials. */
  readonly perCaller: boolean;
  /**
   * If set, the member may sleep, and every request except a probe starts the member. The value is a digest of the
   * member's declaration. When the digest changes, the member's lists are read again.
   */
  readonly sleeps?: string | undefined;
  /** Time limit for the first byte of an answer, and between two messages of a stream. */
  readonly timeoutMs: number;
  readonly health: MemberHealth;
  /** Reviewed definitions. If absent, all definitions pass. */
  readonly lock?: Lock | undefined;
}

/** The current members. A new configuration changes them. */
export interface Members {
  all(): readonly Member[];
  find(name: string): Member | undefined;
}

type Changes = Partial<Pick<Exchange, 'headers' | 'body' | 'message' | 'session' | 'method'>>;

/** Converts an exchange for a member. The member's URL replaces the path of the client's request. */
export function exchangeFor({ credential }: Member, exchange: Exchange, changes: Changes): Exchange {
  const { method, era, body, message, caller, identity = UNIDENTIFIED, carriesTasks } = exchange;
  const authorize = authorizeAs(credential, { key: caller, ...identity });
  const headers = headersForMembers(changes.headers ?? exchange.headers);
  const session = undefined;
  return withCarriedExtensions({
    ...{ method, era, path: '/', body, message, session, caller, identity, authorize, carriesTasks },
    ...changes,
    headers,
  });
}

const UNIDENTIFIED = { claims: {} } as const;

/** Returns the cause of a request that the virtual server itself sends on behalf of a caller. */
export function memberCause({ credential }: Member, exchange: Exchange): Cause {
  const { caller, identity = UNIDENTIFIED } = exchange;
  const headers = headersForMembers(exchange.headers);
  return { headers, path: '/', caller, authorize: authorizeAs(credential, { key: caller, ...identity }) };
}

const OWN_ADDRESS: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
]);

/** Removes headers about the virtual server's own address. Headers about the caller stay. */
function headersForMembers(headers: Exchange['headers']): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !OWN_ADDRESS.has(name)) kept[name] = value;
  }
  return kept;
}

/** Returns the cause of requests that have no caller. */
export function ownCause({ credential }: Member): Cause {
  const authorize = authorizeAs(credential, { key: '', claims: {} });
  return { headers: { 'accept-encoding': 'identity' }, path: '/', caller: '', authorize };
}
