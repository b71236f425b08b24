// Serves the console of the reconciler at the main port of `skep dev`, with the pages and responses of `skep run`. They
// require no token, because they contain no values of Secrets, and all users of the machine may read them.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { fastify } from 'fastify';
import type { ConsoleWords } from '#reconciler/control/page/assets.ts';
import type { Fleet, Runs } from '#reconciler/control/ports.ts';
import { addConsoleRoutes } from '#reconciler/control/routes/console.ts';
import { addEventsRoute } from '#reconciler/control/routes/events.ts';
import { addFleetRoutes } from '#reconciler/control/routes/fleet.ts';
import { addRunsRoutes } from '#reconciler/control/routes/runs.ts';
import { SECURITY_HEADERS } from '#std/page/headers.ts';

/** Paths of the console. Paths of registries named `runs` or `fleet` are longer, so they do not match. */
const CONSOLE_PATH = /^\/(?:|runs(?:\/[^/]+)?|fleet(?:\/(?:resource(?:\/(?:logs|readings))?|events))?|console\/.+)$/;

export interface ConsoleFront {
  has(path: string): boolean;
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

export async function createConsoleFront(
  { runs, fleet }: { readonly runs: Runs; readonly fleet: Fleet },
  words: ConsoleWords,
): Promise<ConsoleFront> {
  const app = fastify();
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(SECURITY_HEADERS);
  });
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
