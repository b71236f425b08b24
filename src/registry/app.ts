// The registry service as a Fastify application: who may ask, what there is, and how failures look. It listens nowhere
// and knows neither Git nor clusters nor SQL.

import compress from '@fastify/compress';
import cors from '@fastify/cors';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { AuthPorts } from '../auth/ports.ts';
import { createAuthenticate } from '../auth/providers.ts';
import { normaliseTarget } from '../auth/publicpaths.ts';
import type { CatalogueReader } from '../catalogue/ports.ts';
import type { RegistryConfig } from '../contracts/registry-service.ts';
import { requireToken } from './access.ts';
import { createBodies } from './bodies.ts';
import { handleClientError, handleError, handleNotFound } from './errors.ts';
import { addOpenApi, addOpenApiRoutes } from './openapi.ts';
import { addDiscoveryRoutes } from './routes/discovery.ts';
import { addExtensionRoutes } from './routes/extension.ts';
import { addOperationalRoutes, type VersionInfo } from './routes/operational.ts';
import { addServerRoutes } from './routes/servers.ts';

export interface AppOptions {
  readonly config: RegistryConfig;
  readonly catalogue: CatalogueReader;
  /** For requests to identity providers; not used in mode anonymous. */
  readonly auth: Omit<AuthPorts, 'notify'>;
  /** pino, or anything of its form. */
  readonly logger: FastifyBaseLogger;
  readonly version: VersionInfo;
  /** Must not repeat. */
  readonly newRequestId: () => string;
  /** Until a request that is not answered is given up; 10 s. */
  readonly handlerTimeoutMs?: number;
}

/** Header limit of the whole request; a token of the longest accepted length fits. */
const HEADERS_BYTES_MAX = 32 * 1024;
const BODY_BYTES_MAX = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
const HANDLER_TIMEOUT_MS = 10_000;
const SOCKET_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_TIMEOUT_MS = 60_000;
const PARAM_LENGTH_MAX = 1024;
const COMPRESS_BYTES_MIN = 1024;
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The caller listens and closes. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = createApp(options);
  app.setErrorHandler(handleError);
  app.addHook('onRequest', async (request, reply) => {
    addHeaders(request, reply);
  });
  app.addHook('onResponse', async (request, reply) => logAccess(request, reply.statusCode, reply.elapsedTime));
  // Before the token is asked for: preflight requests carry none, and browsers must be able to read refusals too.
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: ['Authorization', 'Content-Type', 'If-None-Match', 'X-Request-Id'],
    exposedHeaders: ['ETag', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false,
  });
  addAccessControl(app, options);
  await app.register(compress, { threshold: COMPRESS_BYTES_MIN, encodings: ['br', 'gzip', 'identity'] });
  app.setNotFoundHandler(handleNotFound);
  // No route reads a body: whatever comes is counted against the limit and dropped.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async () => undefined);
  await addOpenApi(app, options.config);
  addRoutes(app, options);
  return app;
}

function createApp({ logger, newRequestId, handlerTimeoutMs = HANDLER_TIMEOUT_MS }: AppOptions): FastifyInstance {
  return Fastify({
    loggerInstance: logger,
    // One line per request instead of two: see logAccess.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => requestId(request.headers['x-request-id']) ?? newRequestId(),
    // The router and the question whether a path is public must see the same path.
    rewriteUrl: (request) => normaliseTarget(request.url ?? '/'),
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      addHeaders(request, reply);
      handleError(error, request, reply);
    },
    clientErrorHandler: handleClientError,
    http: { maxHeaderSize: HEADERS_BYTES_MAX, headersTimeout: REQUEST_TIMEOUT_MS },
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    handlerTimeout: handlerTimeoutMs,
    connectionTimeout: SOCKET_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  });
}

function addAccessControl(app: FastifyInstance, { config, auth, logger }: AppOptions): void {
  if (config.auth.mode === 'anonymous') return;
  const { oauth, publicPaths } = config.auth;
  const authenticate = createAuthenticate(
    { ...auth, notify: ({ message, ...notice }) => logger.warn(notice, message) },
    oauth.providers,
  );
  app.addHook('onRequest', requireToken({ authenticate, oauth, publicPaths }));
}

function addRoutes(app: FastifyInstance, { config, catalogue, version, auth }: AppOptions): void {
  addOperationalRoutes(app, catalogue, version);
  if (config.auth.mode === 'oauth') addDiscoveryRoutes(app, config.auth.oauth);
  addOpenApiRoutes(app, config);
  const bodies = createBodies(() => auth.clock.monotonic());
  addServerRoutes(app, { config, catalogue, version: version.version, bodies });
  addExtensionRoutes(app, config, catalogue);
}

function addHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id, vary: 'Authorization' });
}

/** What a client sends as its id goes to the log and back: only what is harmless in both. */
function requestId(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : undefined;
}

const PROBES = ['/health', '/readiness'];

/** The path without its query, which may hold what people search for. */
function logAccess(request: FastifyRequest, status: number, elapsedMs: number): void {
  const [path = ''] = request.url.split('?', 1);
  if (PROBES.includes(path) && status < 500) return;
  const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
  request.log[level](
    { method: request.method, path, status, elapsedMs: Math.round(elapsedMs), remoteAddress: request.ip },
    'request',
  );
}
