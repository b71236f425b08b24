// Sends all outbound HTTP requests. Checks addresses, limits time and size, and follows redirects only if requested.

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
  /** Setting `outbound.allowPrivate`: permitted CIDR ranges and addresses that are private or special. */
  readonly allowPrivate: readonly string[];
  /** Setting `outbound.caFile`: PEM file with certificates to trust in addition to the system's. Read once. */
  readonly caFile?: string;
  /** PEM text with additional trusted certificates. */
  readonly ca?: string;
  /** Selects proxies. The address rules still apply to the target. */
  readonly egress?: Egress | undefined;
  readonly httpsOnly?: boolean;
  /** Sent as `user-agent: skep/<version>`. */
  readonly version: string;
  /** Timeout in milliseconds of the TCP and TLS connection. Default: 10 s. */
  readonly connectTimeoutMs?: number;
  /** Timeout in milliseconds of a whole exchange. A request may override it. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Maximum bytes of a response body. A request may override it. Default: 32 MiB. */
  readonly maxBytes?: number;
  /** Maximum connections per origin. Default: 8. */
  readonly connections?: number;
  /** Resolves host names. Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Called when a request or a lookup has ended, successfully or not. */
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
  /** PEM client certificate and key. */
  readonly identity?: { readonly cert: string; readonly key: string };
  /** If true, the server's certificate is not verified. */
  readonly skipVerify?: boolean;
  /** If true, every address is permitted. Otherwise `allowPrivate` of the options applies. */
  readonly allowPrivate?: boolean;
  /** For error messages: name of the setting that sets `allowPrivate` of this request, if a setting exists. */
  readonly allowPrivateBy?: string;
  readonly httpsOnly?: boolean;
  /** Timeout in milliseconds of the whole exchange, including the connection and the body. */
  readonly timeoutMs?: number;
  /** Maximum bytes of the body. A larger body fails the request. */
  readonly maxBytes?: number;
  /** Maximum redirects of a GET; default 0. Each target is checked. Only the first origin gets login headers. */
  readonly redirects?: number;
  /** Returns false for a status whose body is not needed. The body is then empty. If absent, all bodies are read. */
  readonly readsBody?: (status: number) => boolean;
  /** Receives the number of read body bytes. While its promise is pending, reading and the time limit are paused. */
  readonly arrived?: ((bytes: number) => Promise<void> | undefined) | undefined;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  /** Names are in lower case. Repeated headers are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** URL of the response. After redirects, it differs from the requested URL. */
  readonly url: string;
}

export interface Outbound {
  /**
   * Sends the request once, without retries. Resolves for any status, including a redirect that is not followed. Throws
   * Failure with one of OUTBOUND_CODES, whose message contains the URL without its secrets. Satisfies `Fetch` of
   * `auth/ports.ts`.
   */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /**
   * Returns the permitted addresses of a host, for connections with other protocols than HTTP. Returns at least one.
   * `url` is for messages. Throws Failure with one of OUTBOUND_CODES.
   */
  permitted(hostname: string, url: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface OutboundContext {
  readonly options: OutboundOptions;
  readonly guard: AddressGuard;
  readonly trusted: readonly string[] | undefined;
  /** Agents by trusted roots and address rules: a connection is reused only under the rules that opened it. */
  readonly agents: Map<string, AgentOf>;
}

/** Maximum number of agents. Few sets of trusted roots are in use at the same time: one per provider. */
const AGENTS_MAX = 32;

/** Throws Failure `outbound-invalid-range` or `outbound-ca-invalid`. */
export function createOutbound(options: OutboundOptions): Outbound {
  const context: OutboundContext = {
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

async function permitted(context: OutboundContext, hostname: string, url: string): Promise<readonly string[]> {
  const { guard, options } = context;
  try {
    return await resolvePermitted({ guard, resolve: options.resolve ?? resolveBySystem }, hostname);
  } catch (error) {
    throw connectFailure(url, withAdvice(error, undefined));
  }
}

async function follow(context: OutboundContext, request: OutboundRequest): Promise<OutboundResponse> {
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

/** Appends the setting that can permit a refused private address to the message. */
function withAdvice(error: unknown, allowPrivateBy: string | undefined): unknown {
  if (!(error instanceof Failure) || error.code !== 'outbound-refused-address') return error;
  const advice =
    allowPrivateBy === undefined ? 'outbound.allowPrivate can name its range' : `${allowPrivateBy} can allow it`;
  return new Failure(error.code, `${error.message}; ${advice}`, { data: error.data, cause: error });
}

async function exchange(
  context: OutboundContext,
  request: OutboundRequest,
  deadline: Deadline,
): Promise<OutboundResponse> {
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
  // Readers of the body receive its error separately. Without a listener, the error would end the process.
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

function agentFor(context: OutboundContext, request: OutboundRequest): AgentOf {
  const { options, agents } = context;
  const { identity, skipVerify = false } = request;
  const key = JSON.stringify([request.allowPrivate === true, request.ca, identity, skipVerify]);
  const known = agents.get(key);
  if (known !== undefined) {
    // Reinserted, so that the first entry of the map is the least recently used.
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
    // The deadline of the whole exchange is shorter. These timeouts only limit a forgotten request.
    headersTimeout: 600_000,
    bodyTimeout: 600_000,
  });
  agents.set(key, agent);
  retireOldest(agents);
  return agent;
}

/** Closes the least recently used agent after its requests have ended. Each content of a CA file has its own agent. */
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
