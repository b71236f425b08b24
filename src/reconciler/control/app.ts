// Builds the reconciler's own listener as a Fastify application: its health, its runs, and requests to run. The
// application does not listen by itself.

import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, LogController } from 'fastify';
import { SECURITY_HEADERS } from '#std/page/headers.ts';
import { guardRequests } from '#std/requests/guarded-app.ts';
import { tracedRequests } from '#std/telemetry/traced-requests.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import { type Access, accessCheck, refuseTokenInUrl, requireCaller } from './access.ts';
import { handleError, handleNotFound } from './answer.ts';
import { acceptBytes } from './body.ts';
import { createPeople, type People } from './login/people.ts';
import type { Actions, Fleet, Login, Runs, Trigger, Vitals } from './ports.ts';
import { addActionRoutes, auditRefused } from './routes/actions.ts';
import { addConsoleRoutes } from './routes/console.ts';
import { addEventsRoute } from './routes/events.ts';
import { addFleetRoutes } from './routes/fleet.ts';
import { addHealthRoutes } from './routes/health.ts';
import { addHookRoutes, type HookSubject } from './routes/hooks.ts';
import { addLoginRoutes } from './routes/login.ts';
import { addMetricsRoute, type MetricsSubject } from './routes/metrics.ts';
import { addRunsRoutes } from './routes/runs.ts';
import { addSnapshotRoute } from './routes/snapshot.ts';
import { addSyncRoute } from './routes/sync.ts';

export interface ControlOptions extends Omit<Access, 'people'> {
  /** pino, or another logger with its interface. */
  readonly logger: FastifyBaseLogger;
  /** Returns an id that does not repeat. */
  readonly newRequestId: () => string;
  readonly vitals: Vitals;
  readonly metrics: MetricsSubject;
  readonly hooks: Omit<HookSubject, 'trigger'>;
  readonly trigger: Trigger;
  readonly runs: Runs;
  readonly fleet: Fleet;
  /** State as the last run has published it. If absent, the route /snapshot does not exist. */
  readonly snapshot?: () => string | undefined;
  /** If absent, nobody can log in. */
  readonly login?: Login;
  /** Returns random bytes. */
  readonly random: (bytes: number) => Buffer;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
  /** If absent, the console changes nothing. */
  readonly actions?: Actions;
}

const BODY_BYTES_MAX = 64 * 1024;
/** Time until the head and the body of a request have arrived. */
const ARRIVAL_TIMEOUT_MS = 10_000;
const HANDLER_TIMEOUT_MS = 20_000;
const SOCKET_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 60_000;
const CONNECTIONS_MAX = 256;

/** Builds the application. The caller makes it listen and closes it. */
export function buildControl(options: ControlOptions): FastifyInstance {
  const app = createApp(options);
  app.setErrorHandler(handleError);
  guardRequests(app, handleError);
  app.setNotFoundHandler(handleNotFound);
  app.addHook('onRequest', async (_request, reply) => {
    addHeaders(reply);
  });
  app.addHook('onRequest', refuseTokenInUrl);
  const people = options.login && createPeople(options.login, options);
  const check = accessCheck({
    ...{ ...options, people },
    refused: (request, { by, code }) => auditRefused(options.actions, request, { by, code }),
  });
  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', requireCaller(check));
  // Signatures cover the bytes.
  acceptBytes(app);
  addHealthRoutes(app, options.vitals);
  addMetricsRoute(app, options.metrics);
  addHookRoutes(app, { ...options.hooks, trigger: options.trigger });
  addSyncRoute(app, options.trigger);
  addFleetRoutes(app, options.fleet);
  addEventsRoute(app, options.fleet);
  addActionRoutes(app, options.actions);
  if (people !== undefined) addLogin(app, options, people);
  addRunsRoutes(app, options.runs, check, addConsoleRoutes(app, { commandOf: INSTALLED, login: people?.login.host }));
  if (options.snapshot !== undefined) addSnapshotRoute(app, options.snapshot);
  return app;
}

function addLogin(app: FastifyInstance, { random, monotonic, actions }: ControlOptions, people: People): void {
  addLoginRoutes(app, { people, random, monotonic, audit: (entry) => actions?.audit(entry) });
}

function createApp({ logger, newRequestId }: ControlOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger,
    childLoggerFactory: tracedRequests().childLoggerFactory,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    frameworkErrors: (error, request, reply) => {
      addHeaders(reply);
      handleError(error, request, reply);
    },
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: ARRIVAL_TIMEOUT_MS,
    handlerTimeout: HANDLER_TIMEOUT_MS,
    connectionTimeout: SOCKET_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  return app;
}

function addHeaders(reply: FastifyReply): void {
  reply.headers({ ...SECURITY_HEADERS, 'x-request-id': reply.request.id });
}
