// Serves the runs of the reconciler next to the catalogue of `skep dev`, with the page and the responses that `skep
// run` has on a listener of its own. They need no token: they contain no value of a Secret, and every user of the
// machine may read them.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { fastify } from 'fastify';
import type { Runs } from '#reconciler/control/ports.ts';
import { addRunsRoutes } from '#reconciler/control/routes/runs.ts';
import type { CommandOf } from '#std/words/command-of.ts';

/** Longer paths below `/runs` belong to a registry that is named `runs`. */
const RUNS_PATH = /^\/runs(?:\/page)?(?:\/[^/]+)?$/;

export interface RunsFront {
  isRuns(path: string): boolean;
  answer(request: IncomingMessage, response: ServerResponse): void;
}

export async function createRunsFront(runs: Runs, commandOf: CommandOf): Promise<RunsFront> {
  const app = fastify();
  addRunsRoutes(app, runs, async () => undefined, commandOf);
  await app.ready();
  return {
    isRuns: (path) => RUNS_PATH.test(path),
    answer: (request, response) => app.routing(request, response),
  };
}
