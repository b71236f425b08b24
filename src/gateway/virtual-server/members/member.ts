// One server behind the virtual one, and requests to it: what a client's exchange becomes on its way there.

import type { Backend, Exchange } from '../../backends/backend.ts';
import type { Cause } from '../../backends/bridge/ask.ts';
import { authorizeAs } from '../../credentials/authorize.ts';
import type { Credential } from '../../credentials/credential.ts';
import type { Lock } from '../../gate/tools-lock/lock.ts';
import type { MemberHealth } from '../health/member-health.ts';
import { withCarriedExtensions } from './carried.ts';

export interface Member {
  /** Without spaces: the name of a Kubernetes object. */
  readonly name: string;
  readonly url: string;
  readonly transport: 'sse' | 'streamable-http';
  /** Of any era, so a bridge stands before it. */
  readonly backend: Backend;
  readonly credential: Credential;
  /** Type of the strategy, for people. */
  readonly authType: string;
  /** A caller needs a token of an upstream provider for it. */
  readonly needsProvider: boolean;
  /** What it offers may differ from caller to caller, since each shows rights of its own. */
  readonly perCaller: boolean;
  /** Until the first byte of an answer, and between two messages of it. */
  readonly timeoutMs: number;
  readonly health: MemberHealth;
  /** Its reviewed definitions. If absent, all that it offers passes. */
  readonly lock?: Lock | undefined;
}

/** Those there are now: a configuration that is read again changes them. */
export interface Members {
  all(): readonly Member[];
  find(name: string): Member | undefined;
}

type Changes = Partial<Pick<Exchange, 'headers' | 'body' | 'message' | 'session' | 'method'>>;

/** The endpoint of a member is its URL: the path of the client says nothing there. */
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

/** For requests of the virtual server's own on behalf of a caller. */
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

/** Who asks goes on to members; where it asked is the address of the virtual server, and theirs are others. */
function headersForMembers(headers: Exchange['headers']): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !OWN_ADDRESS.has(name)) kept[name] = value;
  }
  return kept;
}

/** For requests that no caller causes. */
export function ownCause({ credential }: Member): Cause {
  const authorize = authorizeAs(credential, { key: '', claims: {} });
  return { headers: { 'accept-encoding': 'identity' }, path: '/', caller: '', authorize };
}
