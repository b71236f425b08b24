// The registry service in mode oauth with the real outbound client, for asking whether a token is let in. Its one
// registry is not asked for: a request that passes gets 404, so no store is needed.

import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { createOutbound, type OutboundRequest } from '#adapters/http/outbound.ts';
import type { OAuthConfig, ProviderConfig, RegistryConfig } from '#contracts/registry/service.ts';
import type { CatalogueReader } from '#registry/catalogue/ports.ts';
import { buildApp } from '#registry/service/app.ts';
import { createServiceMetrics } from '#registry/service/metrics.ts';
import { Failure } from '#std/failure.ts';

export const AUDIENCE = 'https://registry.example';
const RESOURCE = 'https://registry.example/base';

/** What a refused token is answered with, to the letter. */
export const REFUSED = {
  status: 401,
  challenge:
    'Bearer realm="mcp-registry", error="invalid_token", error_description="token validation failed", ' +
    'resource_metadata="https://registry.example/.well-known/oauth-protected-resource/base"',
  body: '{"error":"token validation failed"}',
};

/** What a token is answered with that no one could judge: it may be a good one. */
export const UNJUDGED = {
  status: 503,
  challenge: undefined,
  body: '{"error":"tokens cannot be validated at the moment"}',
};

interface Answer {
  readonly status: number;
  readonly challenge: string | undefined;
  readonly body: string;
}

interface LogLine {
  readonly code?: string;
  readonly attempts?: readonly {
    readonly provider: string;
    readonly method: string;
    readonly refusal: { reason: string };
  }[];
}

export interface Gate {
  readonly app: FastifyInstance;
  ask(token: string, method?: 'GET' | 'HEAD' | 'POST' | 'DELETE'): Promise<Answer>;
  /** Why the last request was refused: `provider method reason` per attempt, or the code where there was none. */
  lastReasons(): readonly string[];
  /** Everything that was logged, as text. */
  logs(): string;
  /** URLs asked for so far. */
  readonly outbound: readonly string[];
  /** Moves both clocks. */
  advance(ms: number): void;
  close(): Promise<void>;
}

const NO_STORE = new Proxy({} as CatalogueReader, {
  get: () => () => Promise.reject(new Failure('database-unreachable', 'there is no store behind this test')),
});

export async function openGate(
  providers: readonly Partial<ProviderConfig>[],
  oauth: Partial<OAuthConfig> = {},
): Promise<Gate> {
  const lines: string[] = [];
  const outbound = createOutbound({ allowPrivate: [], version: 'test' });
  const asked: string[] = [];
  let offsetMs = 0;
  const app = await buildApp({
    config: configuration(providers, oauth),
    catalogue: NO_STORE,
    auth: {
      fetch: (request: OutboundRequest) => {
        asked.push(request.url);
        return outbound.request(request);
      },
      files: { read: readText },
      clock: { now: () => Date.now() + offsetMs, monotonic: () => performance.now() + offsetMs },
    },
    logger: pino({ level: 'debug' }, { write: (line) => lines.push(line) }),
    version: { version: 'test', commit: '', build_date: '', node_version: '', platform: '' },
    newRequestId: () => 'generated',
    metrics: createServiceMetrics('test', []),
  });
  return {
    app,
    async ask(token, method = 'GET') {
      const { statusCode, headers, body } = await app.inject({
        method,
        url: '/other/v0.1/servers',
        headers: { authorization: `Bearer ${token}` },
      });
      const challenge = headers['www-authenticate'];
      return { status: statusCode, challenge: challenge === undefined ? undefined : String(challenge), body };
    },
    lastReasons() {
      const parsed = lines.map((line): LogLine => JSON.parse(line));
      const last = parsed.findLast(({ code }) => code !== undefined && code !== 'tokens-unavailable');
      return (
        last?.attempts?.map((each) => `${each.provider} ${each.method} ${each.refusal.reason}`) ?? [`${last?.code}`]
      );
    },
    logs: () => lines.join(''),
    outbound: asked,
    advance(ms) {
      offsetMs += ms;
    },
    async close() {
      await app.close();
      await outbound.close();
    },
  };
}

function configuration(providers: readonly Partial<ProviderConfig>[], oauth: Partial<OAuthConfig>): RegistryConfig {
  return {
    registryName: 'tools',
    namespace: 'default',
    listen: { host: '127.0.0.1', port: 0 },
    limits: { trustedProxies: [], requestTimeoutMs: 10_000, shutdownGraceMs: 0, headerBytes: 32_768, connections: 100 },
    registries: [],
    outbound: { allowPrivate: [], allowFiles: false },
    page: true,
    running: true,
    database: {
      host: '127.0.0.1',
      port: 1,
      user: '',
      migrationUser: '',
      database: '',
      sslMode: 'disable',
      maxOpenConns: 1,
      maxIdleConns: 0,
      connMaxLifetimeMs: 1,
    },
    auth: {
      mode: 'oauth',
      publicPaths: [],
      oauth: {
        resourceUrl: RESOURCE,
        realm: 'mcp-registry',
        scopesSupported: ['mcp-registry:read'],
        enforceScopes: false,
        providers: providers.map((provider, index) => ({
          name: `p${index}`,
          issuerUrl: '',
          audience: AUDIENCE,
          allowPrivateIP: true,
          ...provider,
        })),
        ...oauth,
      },
    },
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('file-unreadable', `${path} cannot be read`, { data: { path }, cause });
  }
}
