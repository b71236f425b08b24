// Sends every outbound HTTP request: guarded addresses, limits of time and size, no redirects unless requested.

import type { Agent as AgentOf } from 'undici';
import { Failure } from '#std/failure.ts';
import { type AddressGuard, anyAddress, createAddressGuard } from './addresses.ts';
import { joinHeaders, leaveUnread, readBody } from './answer.ts';
import { guardedConnector, type Resolve, resolveBySystem, resolvePermitted } from './connector.ts';
import { type Deadline, openDeadline } from './deadline.ts';
import type { Egress } from './egress.ts';
import { connectFailure, outboundFailure } from './failures.ts';
import { redirected } from './redirect.ts';
import { checkedPem, trustedRoots } from './trust.ts';
import { Agent } from './undici.ts';

export interface OutboundOptions {
  /** `outbound.allowPrivate`: CIDR ranges or addresses that are permitted although they are private or special. */
  readonly allowPrivate: readonly string[];
  /** `outbound.caFile`: a PEM file whose certificates are trusted in addition to the system's; read once. */
  readonly caFile?: string;
  /** PEM text with further trusted certificates. */
  readonly ca?: string;
  /** Proxies for requests. The address rules apply to the target all the same. */
  readonly egress?: Egress | undefined;
  /** Refuses http URLs. */
  readonly httpsOnly?: boolean;
  /** Sent as `user-agent: skep/<version>`. */
  readonly version: string;
  /** Milliseconds for the TCP and TLS connection; 10 s. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds for a whole exchange, unless the request sets it; 30 s. */
  readonly timeoutMs?: number;
  /** Bytes of a body, unless the request sets it; 32 MiB. */
  readonly maxBytes?: number;
  /** Connections per origin; 8. */
  readonly connections?: number;
  /** Resolves host names; default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Reports that a request or a look-up has ended, with or without success. */
  readonly ended?: () => void;
}

export interface OutboundRequest {
  /** Absolute http or https URL without user name and password. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** PEM certificates that replace the trusted roots for this request. */
  readonly ca?: string;
  /** PEM certificate and key that are shown to the server. */
  readonly identity?: { readonly cert: string; readonly key: string };
  /** True: the certificate of the server is not checked. */
  readonly skipVerify?: boolean;
  /** True: every address is permitted. Otherwise `allowPrivate` of the options applies. */
  readonly allowPrivate?: boolean;
  /** Name of the setting for `allowPrivate`, for the message. If absent, this request has no such setting. */
  readonly allowPrivateBy?: string;
  readonly httpsOnly?: boolean;
  /** Limit for the whole exchange, connecting and reading the body included. */
  readonly timeoutMs?: number;
  /** Larger bodies fail. */
  readonly maxBytes?: number;
  /**
   * How many redirects of a GET to follow; 0. Every hop is checked like the first; `authorization` and `cookie`
   * go to the first origin only.
   */
  readonly redirects?: number;
  /** Returns false for a status whose body is not read, and is empty. If absent, all bodies are read. */
  readonly readsBody?: (status: number) => boolean;
  /**
   * Receives the number of bytes of the body so far. Its promise is awaited before more is read. The time limit does
   * not run meanwhile, and restarts afterwards.
   */
  readonly arrived?: ((bytes: number) => Promise<void> | undefined) | undefined;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  /** Names in lower case; repeated headers joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** URL of the answer: differs from the requested one if redirects were followed. */
  readonly url: string;
}

export interface Outbound {
  /**
   * Sends one request, never repeated. Any status is an answer, even of a redirect that is not followed. Throws Failure
   * with one of OUTBOUND_CODES, whose message has the URL without its secrets. Satisfies `Fetch` of `auth/ports.ts`.
   */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /**
   * Returns the permitted addresses of a host, at least one, for connections that are not HTTP. `url` is named in
   * messages. Throws Failure with one of OUTBOUND_CODES.
   */
  permitted(hostname: string, url: string): Promise<readonly string[]>;
  /** Ends all connections. */
  close(): Promise<void>;
}

interface Context {
  readonly options: OutboundOptions;
  readonly guard: AddressGuard;
  readonly trusted: readonly string[] | undefined;
  /** Agents by trusted roots and guard: a connection is only reused under the rules with which it was opened. */
  readonly agents: Map<string, AgentOf>;
}

/** Maximum of agents. Few trusted roots are in use at the same time: one text per provider. */
const AGENTS_MAX = 32;

/** Throws Failure `outbound-invalid-range` or `outbound-ca-invalid`. */
export function createOutbound(options: OutboundOptions): Outbound {
  const context: Context = {
    options,
    guard: createAddressGuard(options.allowPrivate),
    trusted: trustedRoots(options),
    agents: new Map(),
  };
  return {
    request: (request) => follow(context, request).finally(options.ended),
    permitted: (hostname, url) => permitted(context, hostname, url).finally(options.ended),
    close: async () => {
      const agents = [...context.agents.values()];
      context.agents.clear();
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}

async function permitted(context: Context, hostname: string, url: string): Promise<readonly string[]> {
  const { guard, options } = context;
  try {
    return await resolvePermitted({ guard, resolve: options.resolve ?? resolveBySystem }, hostname);
  } catch (error) {
    throw connectFailure(url, withAdvice(error, undefined));
  }
}

async function follow(context: Context, request: OutboundRequest): Promise<OutboundResponse> {
  const timeoutMs = request.timeoutMs ?? context.options.timeoutMs ?? 30_000;
  const deadline = openDeadline(timeoutMs);
  let current = request;
  try {
    for (let left = request.redirects ?? 0; ; left -= 1) {
      const response = await exchange(context, current, deadline);
      if ((request.redirects ?? 0) === 0) return response;
      const next = redirected(current, response, left);
      if (next === undefined) return response;
      current = next;
    }
  } catch (error) {
    const { url, method, allowPrivateBy } = current;
    const failed = { url, method, timeoutMs, deadline: deadline.signal, signal: request.signal };
    throw outboundFailure(failed, withAdvice(error, allowPrivateBy));
  } finally {
    deadline.end();
  }
}

/** Adds to the refusal of a private address the setting with which an author can permit the address. */
function withAdvice(error: unknown, allowPrivateBy: string | undefined): unknown {
  if (!(error instanceof Failure) || error.code !== 'outbound-refused-address') return error;
  const advice =
    allowPrivateBy === undefined ? 'outbound.allowPrivate can name its range' : `${allowPrivateBy} can allow it`;
  return new Failure(error.code, `${error.message}; ${advice}`, { data: error.data, cause: error });
}

async function exchange(context: Context, request: OutboundRequest, deadline: Deadline): Promise<OutboundResponse> {
  const { options } = context;
  const url = checkedUrl(request, options.httpsOnly === true || request.httpsOnly === true);
  const response = await agentFor(context, request).request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: request.method,
    headers: { 'user-agent': `skep/${options.version}`, ...lowerCased(request.headers ?? {}) },
    body: request.body ?? null,
    signal: request.signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, request.signal]),
  });
  const waiting = (bytes: number): Promise<void> | undefined => {
    const wait = request.arrived?.(bytes);
    return wait && deadline.afterWait(wait, request.signal);
  };
  // Readers of the body get its error in another way; without a listener it would end the process.
  response.body.on('error', () => undefined);
  const reads = request.readsBody?.(response.statusCode) ?? true;
  const maxBytes = request.maxBytes ?? options.maxBytes ?? 32 * 1024 * 1024;
  const body = reads ? await readBody(response, maxBytes, waiting) : leaveUnread(response);
  return { status: response.statusCode, headers: joinHeaders(response.headers), body, url: request.url };
}

function checkedUrl(request: OutboundRequest, httpsOnly: boolean): URL {
  const url = URL.parse(request.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Failure('outbound-invalid-url', 'is not an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Failure('outbound-invalid-url', 'carries a user name or password, which belongs into its own setting');
  }
  if (httpsOnly && url.protocol !== 'https:')
    throw new Failure('outbound-insecure', 'is http, but only https is accepted');
  return url;
}

function agentFor(context: Context, request: OutboundRequest): AgentOf {
  const { options, agents } = context;
  const { identity, skipVerify = false } = request;
  const key = JSON.stringify([request.allowPrivate === true, request.ca, identity, skipVerify]);
  const known = agents.get(key);
  if (known !== undefined) {
    // Moved to the end, so that the first entry of the map is the least recently used.
    agents.delete(key);
    agents.set(key, known);
    return known;
  }
  const ca = request.ca === undefined ? context.trusted : [checkedPem(request.ca, 'the CA bundle of this request')];
  const agent = new Agent({
    connect: guardedConnector({
      guard: request.allowPrivate === true ? anyAddress : context.guard,
      resolve: options.resolve ?? resolveBySystem,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      ca,
      proxyCa: context.trusted,
      identity,
      skipVerify,
      egress: options.egress,
    }),
    connections: options.connections ?? 8,
    // The deadline of the whole exchange is shorter; these times only limit a forgotten request.
    headersTimeout: 600_000,
    bodyTimeout: 600_000,
  });
  agents.set(key, agent);
  retireOldest(agents);
  return agent;
}

/** Closes the oldest agent, after its requests: CA files rotate, and each text has its own agent. */
function retireOldest(agents: Map<string, AgentOf>): void {
  const [oldest] = agents.entries();
  if (agents.size <= AGENTS_MAX || oldest === undefined) return;
  const [key, agent] = oldest;
  agents.delete(key);
  agent.close().catch(() => agent.destroy());
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
