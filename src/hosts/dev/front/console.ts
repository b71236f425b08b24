// Serves the console of the reconciler at the main port of `skep dev`, with the pages and responses of `skep run`.
// Reading requires no token, because the responses contain no values of Secrets, and all users of the machine may read
// them. Actions require the token of `skep dev`.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { fastify } from 'fastify';
import { sendRefusal } from '#reconciler/control/answer.ts';
import { acceptBytes } from '#reconciler/control/body.ts';
import type { ConsoleWords } from '#reconciler/control/page/assets.ts';
import type { Actions, Caller, Fleet, Runs } from '#reconciler/control/ports.ts';
import { addActionRoutes } from '#reconciler/control/routes/actions.ts';
import { addConsoleRoutes } from '#reconciler/control/routes/console.ts';
import { addEventsRoute } from '#reconciler/control/routes/events.ts';
import { addFleetRoutes } from '#reconciler/control/routes/fleet.ts';
import { addRunsRoutes } from '#reconciler/control/routes/runs.ts';
import { SECURITY_HEADERS } from '#std/page/headers.ts';
import { bearerToken, isOneOf } from '#std/secret.ts';

/** Paths of the console. Paths of registries named `runs` or `fleet` are longer, so they do not match. */
const CONSOLE_PATH =
  /^\/(?:|runs(?:\/[^/]+)?|fleet(?:\/(?:resource(?:\/(?:logs|readings))?|events|session|waiting|actions\/[^/]+))?|console\/.+)$/;

export interface ConsoleFront {
  has(path: string): boolean;
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

interface Shown {
  readonly runs: Runs;
  readonly fleet: Fleet;
  readonly actions: Actions;
  /** Token of `skep dev`, which actions require. */
  readonly token: string;
}

const READER: Caller = { name: 'a reader of skep dev', role: 'viewer', means: 'open' };
const HOLDER: Caller = { name: 'the holder of the token', role: 'operator', means: 'token' };

export async function createConsoleFront(
  { runs, fleet, actions, token }: Shown,
  words: ConsoleWords,
): Promise<ConsoleFront> {
  const app = fastify();
  acceptBytes(app);
  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    const { authorization } = request.headers;
    const given = bearerToken(authorization);
    const isKnown = given !== undefined && isOneOf(given, [token]);
    if (authorization !== undefined && !isKnown)
      return sendRefusal(reply, 'control-unauthorized', 'this is not the token of this start');
    request.caller = isKnown ? HOLDER : READER;
    return undefined;
  });
  addActionRoutes(app, actions);
  addFleetRoutes(app, fleet);
  addEventsRoute(app, fleet);
  addRunsRoutes(app, runs, async () => undefined, addConsoleRoutes(app, words));
  await app.ready();
  return {
    has: (path) => CONSOLE_PATH.test(path),
    answer: (request, response) => app.routing(request, response),
    close: async () => void (await app.close()),
  };
}
