// What the reconciler did, beside the catalogue of `skep dev`: the page and the answers that `skep run` has on a listener of
// its own. No one is asked for a token: they hold no value of a Secret, and every user of the machine may read them.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { fastify } from 'fastify';
import type { Runs } from '#reconciler/control/ports.ts';
import { addRunsRoutes } from '#reconciler/control/routes/runs.ts';
import type { CommandOf } from '#std/words/command-of.ts';

/** A registry of the name `runs` has more below it. */
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
