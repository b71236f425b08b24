// Opens what `skep dev` listens with: the registry services of the fleet, and next to the first one the URLs of the servers that run on
// this machine.

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { RunningServer } from '#contracts/running-servers.ts';
import { writePrivately } from '#kubernetes/devcluster/storage/private-file.ts';
import { Failure } from '#std/failure.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import { systemClock } from '../clock.ts';
import type { Instance } from '../reconciler/instance/instance.ts';
import { runsOf } from '../reconciler/loop/keep.ts';
import { createFront, type Front } from './front/front.ts';
import { createRunsFront } from './front/runs.ts';
import { type DevRegistries, serveRegistries } from './registries.ts';
import { watchRunning } from './running.ts';
import type { DevWorld } from './world.ts';

interface Options {
  readonly instance: Instance;
  readonly world: DevWorld;
  readonly origin: string;
  /** True: each further registry listens on the next port; else on any. */
  readonly inOrder: boolean;
  /** For those who read what the reconciler did. */
  readonly commandOf: CommandOf;
  /** What goes wrong in what is served. */
  readonly say: (text: string) => void;
}

export interface Serving {
  readonly registries: DevRegistries;
  /** Of this start: who sends it reaches the servers that ask for no other. */
  readonly token: string;
  running(): Promise<readonly RunningServer[]>;
  stop(): Promise<void>;
}

const TOKEN_BYTES = 24;

/** Throws Failure `listen-failed`. */
export async function openServing({ instance, world, origin, inOrder, commandOf, say }: Options): Promise<Serving> {
  const { node } = world;
  const { cluster } = instance.deps;
  const servers = node === undefined ? async () => [] : watchRunning({ cluster, node, now: systemClock.monotonic });
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await writePrivately(world.tokenFile, `${token}\n`);
  const runs = await createRunsFront(runsOf(instance), commandOf);
  const front = createFront({ origin: () => origin, token, servers, runs });
  const port = Number(new URL(origin).port);
  const registries = await serveRegistries(instance, world, { port, inOrder, beside: front.serve, say });
  // A fleet without a registry has servers all the same.
  const closeAlone = registries.pages.length === 0 ? await listenAlone(front, port) : undefined;
  return {
    registries,
    token,
    running: front.list,
    async stop() {
      closeAlone?.();
      front.close();
      await registries.stop();
    },
  };
}

async function listenAlone(front: Front, port: number): Promise<() => void> {
  const server = createServer((request, response) => {
    if (!front.serve(request, response)) response.writeHead(404).end();
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
