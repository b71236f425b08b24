// Defines one server behind a virtual server, and converts a client's exchange to a request to this server.

import type { Backend, Exchange } from '../../backends/backend.ts';
import type { Cause } from '../../backends/bridge/ask.ts';
import { authorizeAs } from '../../credentials/authorize.ts';
import type { Credential } from '../../credentials/credential.ts';
import type { Lock } from '../../gate/tools-lock/lock.ts';
import type { MemberHealth } from '../health/member-health.ts';
import { withCarriedExtensions } from './carried.ts';

export interface Member {
  /** Name of the member, which is the name of a Kubernetes object and has no spaces. */
  readonly name: string;
  readonly url: string;
  readonly transport: 'sse' | 'streamable-http';
  /** Backend of the member, which accepts any era through a bridge. */
  readonly backend: Backend;
  readonly credential: Credential;
  /** Type of the strategy, for operators. */
  readonly authType: string;
  /** Whether a caller needs a token of an upstream provider for the member. */
  readonly needsProvider: boolean;
  /** Whether the member's offer may differ between callers, since each caller has own credentials. */
  readonly perCaller: boolean;
  /** Time limit for the first byte of an answer, and between two messages of the answer. */
  readonly timeoutMs: number;
  readonly health: MemberHealth;
  /** The reviewed definitions. If absent, all definitions pass. */
  readonly lock?: Lock | undefined;
}

/** The current members, which change when a configuration is read again. */
export interface Members {
  all(): readonly Member[];
  find(name: string): Member | undefined;
}

type Changes = Partial<Pick<Exchange, 'headers' | 'body' | 'message' | 'session' | 'method'>>;

/**
 * Converts an exchange for a member. The request is sent to the member's URL, whatever the path of the client's
 * request.
 */
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

/** Returns the cause of the virtual server's own requests on behalf of a caller. */
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

/** Returns the headers for members: headers about the caller, but not headers about the virtual server's address. */
function headersForMembers(headers: Exchange['headers']): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !OWN_ADDRESS.has(name)) kept[name] = value;
  }
  return kept;
}

/** Returns the cause of requests without a caller. */
export function ownCause({ credential }: Member): Cause {
  const authorize = authorizeAs(credential, { key: '', claims: {} });
  return { headers: { 'accept-encoding': 'identity' }, path: '/', caller: '', authorize };
}
