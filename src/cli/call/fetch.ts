// How requests leave: to the server that the user named as they are, streams included; to whatever that server names (its
// authorization server, documents) through the guarded client, and to private addresses only where the server is at one
// itself. Knows nothing about MCP.

import type { FetchLike } from '@modelcontextprotocol/client';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { VERSION } from '#hosts/version.ts';
import { Failure } from '#std/failure.ts';

const EVERYWHERE = ['0.0.0.0/0', '::/0'];

export interface Requests {
  readonly fetch: FetchLike;
  readonly close: () => Promise<void>;
}

export function createRequests(server: URL): Requests {
  const publicOnly = createOutbound({ allowPrivate: [], version: VERSION });
  const anywhere = createOutbound({ allowPrivate: EVERYWHERE, version: VERSION });
  let chosen: Promise<Outbound> | undefined;
  const outbound = () => {
    chosen ??= publicOnly.permitted(server.hostname, server.href).then(
      () => publicOnly,
      () => anywhere,
    );
    return chosen;
  };
  return {
    fetch: async (address, init) => {
      const url = new URL(address);
      if (url.origin === server.origin) return fetch(url, { ...init, redirect: 'error' });
      return named(await outbound(), url, init);
    },
    close: async () => {
      await Promise.all([publicOnly.close(), anywhere.close()]);
    },
  };
}

/** Statuses whose responses have no body (Fetch standard, null body status). */
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
