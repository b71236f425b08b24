// Sends requests: directly to the server that the user named, and through the guarded client to every other address.
// The server names the other addresses, for example its authorization server. These addresses may be in the network of
// the server.

import type { FetchLike } from '@modelcontextprotocol/client';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { VERSION } from '#hosts/version.ts';
import { Failure } from '#std/failure.ts';
import { isObject, parseJson } from '#std/json.ts';

const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/**
 * Ranges to which a server may refer. A public server may refer to none of them, and a server in a private network to
 * private ranges. A server on this machine may refer to all of them. Link-local addresses, such as a cloud's metadata
 * service, are never allowed.
 */
const NAMEABLE: readonly (readonly string[])[] = [[], PRIVATE, [...PRIVATE, ...LOOPBACK]];

export interface Requests {
  readonly fetch: FetchLike;
  /** Returns the reason in the server's last response; undefined if the response was successful or had no reason. */
  readonly refusal: () => string | undefined;
  readonly close: () => Promise<void>;
}

export function createRequests(server: URL): Requests {
  const clients = NAMEABLE.map((allowPrivate) => createOutbound({ allowPrivate, version: VERSION }));
  let chosen: Promise<Outbound> | undefined;
  let refusal: string | undefined;
  const outbound = () => (chosen ??= chooseOutbound(clients, server));
  return {
    fetch: async (address, init) => {
      const url = new URL(address);
      if (url.origin !== server.origin) return named(await outbound(), url, init);
      const response = await fetch(url, { ...init, redirect: 'error' });
      if (url.pathname === server.pathname) refusal = await readReason(response);
      return response;
    },
    refusal: () => refusal,
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** Maximum bytes of a refusal's body to read. */
const REFUSAL_BYTES_MAX = 16 * 1024;

/** Returns the text in `{"error": "..."}`, which gateways send, or the message of a JSON-RPC error. */
async function readReason(response: Response): Promise<string | undefined> {
  const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
  if (response.ok || !isJson || response.body === null) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Reads a copy, because the client library reads the response itself.
  for await (const chunk of response.clone().body ?? []) {
    size += chunk.length;
    if (size > REFUSAL_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  const body = parseJson(Buffer.concat(chunks).toString('utf8'));
  const error = isObject(body) ? body.error : undefined;
  const text = isObject(error) ? error.message : error;
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

/** Returns the client with the fewest ranges that may reach the server. */
async function chooseOutbound(clients: readonly Outbound[], server: URL): Promise<Outbound> {
  for (const client of clients) {
    const permitted = await client.permitted(server.hostname, server.href).then(
      () => true,
      () => false,
    );
    if (permitted) return client;
  }
  throw new Failure(
    'call-failed',
    `the address of ${server.href} is link-local or unknown: no request is sent to servers that it names`,
  );
}

/** Statuses of responses without a body (Fetch standard, null body status). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

async function named(outbound: Outbound, url: URL, init: RequestInit = {}): Promise<Response> {
  const { method = 'GET', body = undefined } = init;
  if (method !== 'GET' && method !== 'POST')
    throw new Failure('call-failed', `${method} is never sent to ${url.origin}`);
  const answer = await outbound.request({
    url: url.href,
    method,
    headers: Object.fromEntries(new Headers(init.headers)),
    body: body === undefined || body === null ? undefined : await new Response(body).text(),
    signal: init.signal ?? undefined,
  });
  const { status, headers } = answer;
  return new Response(WITHOUT_BODY.has(status) ? null : Buffer.from(answer.body), { status, headers });
}
