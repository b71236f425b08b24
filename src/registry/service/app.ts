// Builds the registry service as a Fastify application with access control, routes and error responses. The caller
// opens the listener.

import cors from '@fastify/cors';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { AuthPorts } from '#auth/ports.ts';
import { createAuthenticate } from '#auth/providers.ts';
import { normaliseTarget } from '#auth/publicpaths.ts';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import { SECURITY_HEADERS } from '#std/page/headers.ts';
import { createRateLimit } from '#std/rate.ts';
import { guardRequests } from '#std/requests/guarded-app.ts';
import type { BeginRequest } from '#std/telemetry/trace.ts';
import { type TracedRequests, tracedRequests } from '#std/telemetry/traced-requests.ts';
import type { CatalogueReader } from '../catalogue/ports.ts';
import { requireToken } from './access.ts';
import { sendRefusal } from './answer.ts';
import { type Bodies, createBodies } from './bodies.ts';
import { packedSender } from './encoding.ts';
import { handleClientError, handleError, handleNotFound } from './errors.ts';
import type { ServiceMetrics } from './metrics.ts';
import { addOpenApi, addOpenApiRoutes } from './openapi.ts';
import { addClientRoutes } from './routes/clients.ts';
import { addDiscoveryRoutes } from './routes/discovery.ts';
import { addExtensionRoutes } from './routes/extension.ts';
import { addOperationalRoutes, type VersionInfo } from './routes/operational.ts';
import { addPageRoutes } from './routes/page.ts';
import { addRunningRoute } from './routes/running.ts';
import { addServerRoutes } from './routes/servers.ts';
import { requireSyncToken } from './sync-token.ts';

export interface AppOptions {
  readonly config: RegistryConfig;
  readonly catalogue: CatalogueReader;
  /**
   * Clock, files, and outbound requests. In mode anonymous, the application sends no requests to identity providers.
   */
  readonly auth: Omit<AuthPorts, 'notify'>;
  /** pino, or an object with the same methods. */
  readonly logger: FastifyBaseLogger;
  readonly version: VersionInfo;
  /** Returns a unique id. */
  readonly newRequestId: () => string;
  readonly metrics: ServiceMetrics;
  /** If absent, requests are not traced. */
  readonly traced?: BeginRequest;
  /** Returns true if clients should send no more requests. If absent, the service never announces its stop. */
  readonly isStopping?: () => boolean;
  /**
   * True if this process also runs servers of the catalogue. The listener then serves the URLs of these servers itself,
   * and passes only other requests to this application.
   */
  readonly runsBeside?: boolean;
}

const BODY_BYTES_MAX = 64 * 1024;
/** Time limit for the arrival of head and body of a request. */
const ARRIVAL_TIMEOUT_MS = 10_000;
/** Interval of the checks of the arrival time limit. */
const ARRIVAL_CHECK_MS = 2_000;
const SOCKET_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_TIMEOUT_MS = 60_000;
const PARAM_LENGTH_MAX = 1024;
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** Builds the application. The caller must close it. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const traced = tracedRequests(options.traced, PROBES);
  const app = createApp(options, traced);
  traced.addTo(app);
  app.setErrorHandler(handleError);
  guardRequests(app, handleError);
  app.addHook('onRequest', async (request, reply) => {
    addHeaders(request, reply);
  });
  app.addHook('onResponse', async (request, reply) => {
    logAccess(request, reply.statusCode, reply.elapsedTime);
    options.metrics.answered(request.method, request.routeOptions.url, reply.statusCode, reply.elapsedTime / 1000);
  });
  // CORS precedes the token check: preflight requests have no token, and browsers must be able to read refusals.
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: ['Authorization', 'Content-Type', 'If-None-Match', 'X-Request-Id'],
    exposedHeaders: ['ETag', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false,
  });
  // A proxy in between may have used another Host header than this service (RFC 9112 section 3.2).
  app.addHook('onRequest', async (request, reply) => {
    if (!repeatsHost(request.raw.rawHeaders)) return;
    return sendRefusal(reply, { code: 'request-invalid', message: 'more than one Host header' });
  });
  addRateLimit(app, options);
  addAccessControl(app, options);
  app.setNotFoundHandler(handleNotFound);
  // No route reads a body. Bodies count against the size limit and are dropped.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async () => undefined);
  await addOpenApi(app, options.config);
  const bodies = createBodies(() => options.auth.clock.monotonic());
  addRoutes(app, options, bodies);
  const { config, runsBeside = false } = options;
  const running = runsBeside ? 'beside' : config.running ? 'fleet' : 'hidden';
  const settings = { auth: config.auth.mode, running, title: config.displayName } as const;
  if (config.page) await addPageRoutes(app, settings, packedSender(bodies));
  return app;
}

function createApp(
  { config, logger, newRequestId }: AppOptions,
  { childLoggerFactory }: TracedRequests,
): FastifyInstance {
  const { trustedProxies, requestTimeoutMs, headerBytes, connections } = config.limits;
  const app = Fastify({
    loggerInstance: logger,
    childLoggerFactory,
    // `logAccess` writes one line per request instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => requestId(request.headers['x-request-id']) ?? newRequestId(),
    // The router and the check for public paths must read the same path.
    rewriteUrl: (request) => normaliseTarget(request.url ?? '/'),
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      addHeaders(request, reply);
      handleError(error, request, reply);
    },
    clientErrorHandler: handleClientError,
    http: {
      maxHeaderSize: headerBytes,
      headersTimeout: ARRIVAL_TIMEOUT_MS,
      connectionsCheckingInterval: ARRIVAL_CHECK_MS,
    },
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: ARRIVAL_TIMEOUT_MS,
    handlerTimeout: requestTimeoutMs,
    connectionTimeout: SOCKET_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  });
  app.server.maxConnections = connections;
  return app;
}

/** Applies the rate limit before the token check, which is the most expensive step. Probes are not limited. */
function addRateLimit(app: FastifyInstance, { config, auth }: AppOptions): void {
  const { requestsPerMinute } = config.limits;
  if (requestsPerMinute === undefined) return;
  const waitOf = createRateLimit(requestsPerMinute, auth.clock.monotonic);
  app.addHook('onRequest', async (request, reply) => {
    const seconds = PROBES.includes(pathOf(request)) ? undefined : waitOf(request.ip);
    if (seconds === undefined) return;
    return sendRefusal(reply.header('retry-after', seconds), { code: 'rate-limited', message: 'too many requests' });
  });
}

function addAccessControl(app: FastifyInstance, { config, auth, logger, metrics }: AppOptions): void {
  if (config.auth.mode === 'anonymous') {
    app.addHook('onRequest', requireSyncToken(auth.files, config.auth.syncTokenFile));
    return;
  }
  const { oauth, publicPaths } = config.auth;
  const authenticate = createAuthenticate(
    { ...auth, notify: ({ message, ...notice }) => logger.warn(notice, message) },
    oauth.providers,
  );
  app.addHook('onRequest', requireToken({ authenticate, oauth, publicPaths, countToken: metrics.token }));
}

function addRoutes(app: FastifyInstance, options: AppOptions, bodies: Bodies): void {
  const { config, catalogue, version, isStopping = () => false } = options;
  addOperationalRoutes(app, { catalogue, version, isStopping });
  if (config.auth.mode === 'oauth') addDiscoveryRoutes(app, config.auth.oauth);
  addOpenApiRoutes(app, config, packedSender(bodies));
  addServerRoutes(app, { config, catalogue, version: version.version, bodies });
  addClientRoutes(app, { config, catalogue, version: version.version, bodies });
  addExtensionRoutes(app, config, catalogue);
  if (config.running) addRunningRoute(app, config, catalogue);
}

function addHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id, vary: 'Authorization' });
}

/** Returns the client's request id if it is safe in logs and headers. */
function requestId(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : undefined;
}

/**
 * Returns whether a request has several Host headers, of which Node.js shows only the first. Allocates no list, because
 * every request is checked.
 */
function repeatsHost(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

function pathOf(request: FastifyRequest): string {
  const [path = ''] = request.url.split('?', 1);
  return path;
}

const PROBES = ['/health', '/readiness'];

/** Logs the path without its query, which may contain private searches. */
function logAccess(request: FastifyRequest, status: number, elapsedMs: number): void {
  const path = pathOf(request);
  if (PROBES.includes(path) && status < 500) return;
  const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
  request.log[level](
    { method: request.method, path, status, elapsedMs: Math.round(elapsedMs), remoteAddress: request.ip },
    'request',
  );
}
