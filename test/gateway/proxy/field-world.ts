// Starts the real servers for tests of single settings: MCP servers over HTTP, TLS and stdio, an issuer, a token
// endpoint, a token service and a collector.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunConfig } from '#contracts/run-config.ts';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import type { Environment } from '#std/environment.ts';
import { type AttachWorld, openAttachWorld } from '../../adapters/attach/world.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import type { ServerCertificate } from '../../harness/private-authority.ts';
import { type Receiver, startReceiver } from '../../harness/receiver.ts';
import { type Endpoint, sendJson, startEndpoint } from '../credentials/endpoint.ts';
import { startBackend, type TestBackend } from './backend.ts';
import { callTool, runProxy, type TestedProxy } from './world.ts';

export interface FieldWorld {
  readonly backend: TestBackend;
  readonly other: TestBackend;
  readonly tls: TestBackend;
  readonly issuer: Issuer;
  readonly otherIssuer: Issuer;
  /** Serves the issuer's keys over TLS with a certificate of the authority. */
  readonly keysOverTls: TestKeys;
  readonly keysForToken: Endpoint;
  /** Serves the issuer's keys as an API server does, with another issuer name. */
  readonly apiServer: Endpoint;
  /** Token endpoint for token exchange. */
  readonly exchange: Endpoint;
  readonly otherExchange: Endpoint;
  /** Token endpoint over TLS with a certificate of the authority. */
  readonly exchangeOverTls: Endpoint;
  /** Token service that issues keys for roles. */
  readonly sts: Endpoint;
  readonly collector: Receiver;
  /** Collector over TLS with a certificate of the authority. */
  readonly collectorOverTls: Receiver;
  readonly attach: AttachWorld;
  /** Path of the authority's certificate (PEM). */
  readonly authorityFile: string;
  readonly folder: string;
  /** A port on which no process listens. */
  readonly freePort: number;
  /** Writes a file and returns its path. */
  file(name: string, text: string): string;
  /** Returns a token of the issuer. */
  token(claims?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

interface TestKeys {
  readonly url: string;
}

const DAY_MS = 86_400_000;

export const STDIO_SERVER = fileURLToPath(new URL('stdio-server.mjs', import.meta.url));

const ROLE_ANSWER = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIASTORY</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
<SessionToken>session-token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>
</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

export async function startFieldWorld(): Promise<FieldWorld> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skep-fields-')));
  const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
  const authority = createAuthority('fields', validity);
  const { certificate: cert, privateKey: key } = createServerCertificate(authority, 'fields', ['127.0.0.1'], validity);
  const [issuer, otherIssuer] = await Promise.all([startIssuer(), startIssuer()]);
  const jwks = { keys: [issuer.publicKey('RS256')] };
  const [backend, other, tls, keysOverTls, collector, collectorOverTls, attach] = await Promise.all([
    startBackend(),
    startBackend(),
    startBackend({ cert, key }),
    startBackend({ cert, key }, jwks),
    startReceiver(),
    startReceiver({ cert, key }),
    openAttachWorld(),
  ]);
  await attach.run(STDIO_SERVER);
  const keysForToken = await startEndpoint(({ headers }, response) => {
    sendJson(response, headers.authorization === 'Bearer file-token' ? 200 : 401, jwks);
  });
  const apiServer = await startEndpoint(({ path }, response) => {
    const isDocument = path.startsWith('/.well-known/');
    sendJson(response, 200, isDocument ? { issuer: API_SERVER_ISSUER } : jwks);
  });
  const exchanging = (certificate?: ServerCertificate) =>
    startEndpoint(
      (_asked, response) =>
        sendJson(response, 200, {
          access_token: 'exchanged',
          token_type: 'Bearer',
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          expires_in: 3600,
        }),
      certificate,
    );
  const [exchange, otherExchange, exchangeOverTls] = await Promise.all([
    exchanging(),
    exchanging(),
    exchanging({ cert, key }),
  ]);
  const sts = await startEndpoint((_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/xml' }).end(ROLE_ANSWER);
  });
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const closing = [
    ...[backend, other, tls, keysOverTls, collector, issuer, otherIssuer, exchange, otherExchange, sts],
    exchangeOverTls,
    collectorOverTls,
  ];
  return {
    ...{ backend, other, tls, issuer, otherIssuer, keysOverTls, keysForToken, apiServer, exchange, otherExchange, sts },
    ...{ exchangeOverTls, collector, collectorOverTls, attach, folder, file },
    freePort: await freePort(),
    authorityFile: file('authority.pem', authority.certificate),
    token: (claims = {}) =>
      issuer.sign({ iss: issuer.url, aud: 'fields', sub: 'ada', exp: Math.floor(Date.now() / 1000) + 3600, ...claims }),
    async close() {
      await Promise.all([...closing, keysForToken, apiServer].map((each) => each.close()));
      await attach.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Issuer in the tokens of the world's API server. */
export const API_SERVER_ISSUER = 'https://kubernetes.default.svc.cluster.local';

/** Returns the settings of a proxy in front of the world's HTTP server. */
export function beforeBackend({ backend }: FieldWorld): Partial<RunConfig> {
  return { target_host: '127.0.0.1', target_port: backend.port };
}

export function beforeStreams(): Partial<RunConfig> {
  return { transport: 'stdio', process: { command: [process.execPath, STDIO_SERVER], env: {} } };
}

/** Returns a function that starts a proxy, observes it and stops it. */
export function proxied(
  see: (proxy: TestedProxy, world: FieldWorld) => Promise<unknown>,
): (config: RunConfig, world: FieldWorld, environment: Environment, start?: typeof runProxy) => Promise<unknown> {
  return async (config, world, environment, start = runProxy) => {
    const proxy = await start(config, environment);
    try {
      return await see(proxy, world);
    } finally {
      await proxy.stop();
    }
  };
}

/** Observes the headers of a call that the MCP server receives. */
export function leaving(
  pick: (headers: Readonly<Record<string, unknown>>, world: FieldWorld) => unknown,
  sent: (world: FieldWorld) => Promise<Readonly<Record<string, string>>> = async () => ({}),
) {
  return proxied(async (proxy, world) => {
    const before = world.backend.calls('tools/call').length;
    const { status } = await callTool(proxy, 'echo', {}, await sent(world));
    const asked = world.backend.calls('tools/call').slice(before).at(-1);
    return asked === undefined ? `refused with ${status}` : pick(asked.headers, world);
  });
}

/** Returns the status and the text of a stream, up to the first match of `until`. */
export async function firstChunk(url: string, until = /\n\n/): Promise<string> {
  const abort = new AbortController();
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: abort.signal });
  let text = `${response.status} `;
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (until.test(text)) break;
  }
  abort.abort();
  return text;
}

/** Returns the status of a POST with headers that `fetch` does not allow. */
export function rawStatus(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const request = httpRequest(url, { method: 'POST', headers: { ...types, ...headers } }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    request.once('error', reject);
    request.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  });
}

/** Sends the second request while the first request waits for its response. Returns the second status. */
export async function duringCall(
  proxy: TestedProxy,
  { backend }: FieldWorld,
  second: () => Promise<number>,
): Promise<number> {
  const abort = new AbortController();
  const hanging = backend.hanging();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'hang' } });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const first = fetch(proxy.url, { method: 'POST', headers, body, signal: abort.signal }).catch(() => undefined);
  await hanging;
  const status = await second();
  abort.abort();
  await first;
  return status;
}
