// Starts webhooks whose responses a test defines, and records their requests.

import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { RunConfig } from '#contracts/run-config.ts';

export type Hook = NonNullable<NonNullable<RunConfig['webhooks']>['mutating']>[number];
export interface Sent {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what others read is looked at piece by piece
  readonly json: any;
}
export type Respond = (sent: Sent, response: ServerResponse) => void;

let servers: Server[] = [];

export function closeHooks(): void {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers = [];
}

export async function startHook(
  respond: Respond,
  tls?: { readonly cert: string; readonly key: string; readonly ca: string },
): Promise<{ readonly url: string; readonly sent: Sent[] }> {
  const sent: Sent[] = [];
  const handle: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const each = { headers: request.headers, text, json: JSON.parse(text) };
      sent.push(each);
      respond(each, response);
    });
    response.on('error', () => undefined);
  };
  const server =
    tls === undefined
      ? createServer(handle)
      : createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: true }, handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    sent,
  };
}

export function answerWith(more: object): Respond {
  return ({ json }, response) =>
    response.end(JSON.stringify({ version: 'v0.1.0', uid: json.uid, allowed: true, ...more }));
}

export function patchWith(...patch: readonly object[]): Respond {
  return answerWith({ patch_type: 'json_patch', patch });
}

export function hook(url: string, more: Partial<Hook> = {}): Hook {
  return { name: 'guard', url, timeout_ms: 5000, failure_policy: 'fail', insecure_skip_verify: true, ...more };
}
