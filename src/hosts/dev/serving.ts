// Opens the listeners of `skep dev`: the main listener for one registry and the servers on this machine, and a listener
// for each further registry.

import { createServer } from 'node:http';
import type { RunningServer } from '#contracts/running-servers.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import { systemClock } from '../clock.ts';
import type { FleetFeed } from '../reconciler/console/fleet.ts';
import type { Instance } from '../reconciler/instance/instance.ts';
import { runsOf } from '../reconciler/loop/keep.ts';
import { hasNews } from './followed-packages.ts';
import { createConsoleFront } from './front/console.ts';
import { createFront, type Front } from './front/front.ts';
import { CATALOGUE_PATH, type DevRegistries, openRegistries } from './registries.ts';
import { watchRunning } from './running.ts';
import { openToken } from './token.ts';
import type { DevWorld } from './world.ts';

interface Options {
  readonly instance: Instance;
  readonly feed: FleetFeed;
  readonly world: DevWorld;
  readonly origin: string;
  /** If true, further registries listen on the ports after the main port. If false, they listen on any free ports. */
  readonly inOrder: boolean;
  /** If true, a new token replaces the token of earlier starts. */
  readonly newToken: boolean;
  /** Returns commands for the console's texts about runs. */
  readonly commandOf: CommandOf;
  /** Requests a run. */
  readonly runNow: () => void;
  /** Prints messages about registries. */
  readonly say: (text: string) => void;
}

export interface Serving {
  readonly registries: DevRegistries;
  /** Token for the servers that do not require a token of an issuer. */
  readonly token: string;
  running(): Promise<readonly RunningServer[]>;
  /** Starts and stops registries after a run, if the run changed objects or the catalogue. */
  ran(result: RunResult): void;
  stop(): Promise<void>;
}

/** Throws Failure `listen-failed`. */
export async function openServing(options: Options): Promise<Serving> {
  const { instance, feed, world, origin, inOrder, newToken, commandOf, say } = options;
  const { node } = world;
  const { cluster } = instance.deps;
  const servers = node === undefined ? async () => [] : watchRunning({ cluster, node, now: systemClock.monotonic });
  const token = await openToken(world.tokenFile, newToken);
  const shown = { runs: runsOf(instance), fleet: feed.shown(instance), actions: feed.acting(options.runNow), token };
  const console = await createConsoleFront(shown, { commandOf, catalogue: CATALOGUE_PATH });
  const front = createFront({ origin: () => origin, token, servers, console });
  const registries = await openRegistries(instance, world, { origin, inOrder, say });
  const close = await listenMain(front, registries, Number(new URL(origin).port)).catch(async (error: unknown) => {
    await registries.stop();
    throw error;
  });
  const followed = followRuns(registries, say);
  const serving: Serving = {
    registries,
    token,
    running: front.list,
    ran: followed.ran,
    async stop() {
      await followed.close();
      close();
      front.close();
      await console.close();
      await registries.stop();
    },
  };
  try {
    await followed.start();
    return serving;
  } catch (error) {
    await serving.stop();
    throw error;
  }
}

/**
 * Returns functions that update the registries after runs, one update after the other. A run after a failed update
 * always updates again.
 */
function followRuns(registries: DevRegistries, say: (text: string) => void) {
  let last: Promise<void> = Promise.resolve();
  /** Reason why some registries are not served. Printed once. */
  let fault: string | undefined;

  async function start(): Promise<void> {
    const before = fault;
    try {
      await registries.follow();
      fault = undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      fault = `error ${error.code}: ${error.message}`;
      if (fault !== before) say(fault);
    }
  }

  async function follow(): Promise<void> {
    const before = registries.urls();
    await start();
    const now = registries.urls();
    for (const url of now.filter((each) => !before.includes(each))) say(`registry ${url} is served`);
    for (const url of before.filter((each) => !now.includes(each))) say(`registry ${url} is no longer served`);
  }

  return {
    start,
    ran(result: RunResult): void {
      if (fault !== undefined || hasNews(result)) last = last.then(follow);
    },
    close: () => last,
  };
}

async function listenMain(front: Front, registries: DevRegistries, port: number): Promise<() => void> {
  const server = createServer((request, response) => {
    if (!front.serve(request, response)) registries.serve(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Failure('listen-failed', `cannot listen on 127.0.0.1:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
