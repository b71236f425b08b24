// Serves the console of the reconciler next to the catalogue of `skep dev`: the same page and responses as the listener
// of `skep run`. No token is required: they contain no value of a Secret, and every user of the machine may read them.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { fastify } from 'fastify';
import type { ConsoleWords } from '#reconciler/control/page/assets.ts';
import type { Fleet, Runs } from '#reconciler/control/ports.ts';
import { addConsoleRoutes } from '#reconciler/control/routes/console.ts';
import { addEventsRoute } from '#reconciler/control/routes/events.ts';
import { addFleetRoutes } from '#reconciler/control/routes/fleet.ts';
import { addRunsRoutes } from '#reconciler/control/routes/runs.ts';
import { SECURITY_HEADERS } from '#std/page/headers.ts';

/** Paths of the console. A registry named `runs` or `fleet` has only longer paths. */
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
