// Makes a backend whose sessions are in the memory of one replica usable in all replicas. The session id names the
// replica, and other replicas hand exchanges over to it.

import { isObject, type JsonObject } from '#std/json.ts';
import { scanMessage } from '../../wire/scan.ts';
import type { Answer, Authorized, Backend, Exchange, Flow } from '../backend.ts';
import type { RelayRequest } from './ports.ts';
import { headersIn, type Relay } from './relay.ts';

const SERVICE = 'session';
const SESSION = 'mcp-session-id';

export function relayBackend(inner: Backend, relay: Relay): Backend {
  relay.serve(SERVICE, (request, answer) => {
    const exchange = exchangeIn(request);
    if (exchange !== undefined) return inner.open(exchange, naming(relay.replica, answer));
    answer.fail({ reason: 'answer-invalid', message: 'the request came from a replica of another release' });
    return NO_FLOW;
  });
  return {
    open(exchange, answer) {
      const { session } = exchange;
      if (session === undefined) return inner.open(exchange, naming(relay.replica, answer));
      const [owner = '', ...rest] = session.split('.');
      const local = { ...exchange, session: rest.join('.') };
      if (owner === relay.replica) return inner.open(local, naming(relay.replica, answer));
      return handOver(relay, owner, local, answer);
    },
    eras: inner.eras,
    probe: inner.probe,
    close: inner.close,
  };
}

const NO_FLOW: Flow = { abort: () => undefined, resume: () => undefined };

/** Adds the name of the replica to the session id. */
function naming(replica: string, answer: Answer): Answer {
  return {
    head(status, headers) {
      const session = headers[SESSION];
      const named = typeof session === 'string' ? { ...headers, [SESSION]: `${replica}.${session}` } : headers;
      answer.head(status, named);
    },
    data: answer.data,
    end: answer.end,
    fail: answer.fail,
  };
}

/**
 * Hands the exchange over to the replica `owner`. This replica adds the credentials, because it knows the caller. The
 * owner forwards the credentials unchanged.
 */
function handOver(relay: Relay, owner: string, exchange: Exchange, answer: Answer): Flow {
  let flow: Flow | undefined;
  let aborted = false;

  function settle(authorized: Authorized): void {
    if (aborted) return;
    if (authorized.ok)
      flow = relay.call(owner, SERVICE, requestOf({ ...exchange, headers: authorized.headers }), answer);
    else answer.fail(authorized.fault);
  }

  const { method, headers, body } = exchange;
  const authorized = exchange.authorize?.({ method, url: `relay:${owner}`, headers, body }) ?? { ok: true, headers };
  if ('ok' in authorized) settle(authorized);
  else authorized.then(settle);
  return {
    abort() {
      aborted = true;
      flow?.abort();
    },
    resume: () => flow?.resume(),
  };
}

const EMPTY = Buffer.alloc(0);

export function requestOf({ method, era, path, headers, session, caller, identity, body }: Exchange): RelayRequest {
  const upstream = identity?.upstream && { ...identity.upstream };
  const who = identity === undefined ? {} : { identity: { ...identity, upstream } };
  return { head: { method, era, path, headers: { ...headers }, session, caller, ...who }, body: body ?? EMPTY };
}

/** Decodes an exchange. Returns undefined if the format is unknown. */
export function exchangeIn({ head, body }: RelayRequest): Exchange | undefined {
  const { method, era, path, session, caller }: JsonObject = head;
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return undefined;
  if ((era !== 'session' && era !== 'stateless') || typeof path !== 'string' || typeof caller !== 'string')
    return undefined;
  const scanned = body.length === 0 ? undefined : scanMessage(body);
  if (scanned?.ok === false) return undefined;
  return {
    method,
    era,
    path,
    headers: plainHeaders(head),
    body: scanned === undefined ? undefined : body,
    message: scanned?.message,
    session: typeof session === 'string' ? session : undefined,
    caller,
    ...identityIn(head),
  };
}

function identityIn({ identity }: JsonObject): Pick<Exchange, 'identity'> {
  if (!isObject(identity) || !isObject(identity.claims)) return {};
  const { token, claims, expiry, upstream } = identity;
  return {
    identity: {
      claims,
      ...(typeof token === 'string' ? { token } : {}),
      ...(typeof expiry === 'number' ? { expiry } : {}),
      ...upstreamIn(upstream),
    },
  };
}

function upstreamIn(upstream: unknown): Pick<NonNullable<Exchange['identity']>, 'upstream'> {
  if (!isObject(upstream) || typeof upstream.provider !== 'string' || !isObject(upstream.claims)) return {};
  return { upstream: { provider: upstream.provider, claims: upstream.claims } };
}

function plainHeaders({ headers }: JsonObject): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headersIn(headers)))
    plain[name] = typeof value === 'string' ? value : value.join(', ');
  return plain;
}
