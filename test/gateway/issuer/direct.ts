// Starts an authorization server on a listener, without a proxy or a virtual server.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { createOutbound } from '#adapters/http/outbound.ts';
import { type OpenIssuer, openIssuer } from '#hosts/issuer.ts';
import { createLogger } from '#hosts/log.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { createMetrics } from '#std/telemetry/metrics.ts';
import type { RecordingProvider } from './recording-provider.ts';
import type { AuthServer } from './world.ts';

export interface DirectIssuer {
  /** Issuer URL for clients. */
  readonly issuer: string;
  /** Origin of the listener. */
  readonly origin: string;
  readonly open: OpenIssuer;
  readonly replicas: readonly OpenIssuer[];
  readonly log: () => string;
  close(): Promise<void>;
}

export interface DirectOptions {
  /** Returns the configuration. `origin` is the origin of the listener. */
  readonly config: (origin: string) => AuthServer;
  readonly environment?: Readonly<Record<string, string>>;
  readonly hostAudience?: string;
  /** Number of replicas, which get the requests in turn. */
  readonly replicas?: number;
  /** Rules of outgoing requests, in addition to the configuration. */
  readonly outbound?: { readonly allowPrivate: readonly string[]; readonly ca?: string };
}

export const RESOURCE = 'https://weather.example.com/mcp';

export async function openDirect({
  config,
  environment = {},
  hostAudience = RESOURCE,
  replicas: count = 1,
  outbound: rules = { allowPrivate: [] },
}: DirectOptions): Promise<DirectIssuer> {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const outbound = createOutbound({ ...rules, version: 'test' });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const given = config(origin);
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await outbound.close();
  }
  try {
    const replicas: OpenIssuer[] = [];
    for (let index = 0; index < count; index += 1) {
      replicas.push(
        await openIssuer({
          config: given,
          hostAudience,
          hostIssuer: given.issuer,
          trustForwarded: true,
          environment,
          files: createWatchedFiles(),
          outbound,
          logger: createLogger('debug', stream),
          metrics: createMetrics(),
          injects: () => true,
        }),
      );
    }
    const [open] = replicas;
    if (open === undefined) throw new Error('there is no replica');
    let turn = 0;
    server.on('request', (request, response) => {
      const path = new URL(request.url ?? '/', origin).pathname;
      turn += 1;
      if (replicas[turn % count]?.serve(path, request, response) !== true) response.writeHead(404).end();
    });
    return {
      issuer: given.issuer,
      origin,
      open,
      replicas,
      log: () => text,
      async close() {
        for (const each of replicas) each.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export function oidcTo(
  origin: string,
  provider: RecordingProvider,
  more: object = {},
): AuthServer['upstreams'][number] {
  return {
    name: 'login',
    type: 'oidc',
    oidc_config: {
      issuer_url: provider.url,
      client_id: 'skep',
      redirect_uri: `${origin}/oauth/callback`,
      scopes: ['openid', 'offline_access'],
      ...more,
    },
  };
}

export function oauth2To(
  origin: string,
  provider: RecordingProvider,
  more: object = {},
): AuthServer['upstreams'][number] {
  return {
    name: 'code-host',
    type: 'oauth2',
    oauth2_config: {
      authorization_endpoint: `${provider.pageUrl}/authorize`,
      token_endpoint: `${provider.url}/token`,
      client_id: 'skep',
      redirect_uri: `${origin}/oauth/callback`,
      userinfo: { endpoint_url: `${provider.url}/user`, http_method: 'GET' },
      ...more,
    },
  };
}

export function configOf(origin: string, upstreams: AuthServer['upstreams']): AuthServer {
  return {
    schema_version: 'v0.1.0',
    issuer: origin,
    token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
    upstreams: [...upstreams],
    scopes_supported: ['openid', 'weather'],
    allowed_audiences: [RESOURCE],
    storage: { type: 'memory' },
  };
}
