// One session of `skep dev`, from the start of its servers to Ctrl-C.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { freePort } from '../../devcluster/node/free-port.ts';
import { exitCodeOf, type RunResult } from '../../reconcile/result.ts';
import { tellOutcomes, textOfChanges, textOfEnding } from '../../report/text.ts';
import { Failure } from '../../std/failure.ts';
import { openInstance } from '../instance/instance.ts';
import { startRuns } from '../loop/runs.ts';
import { awaitSignal } from '../signals.ts';
import { createFront } from './front/front.ts';
import { type DevRegistries, serveRegistries } from './registries.ts';
import { type DevWorld, openDevWorld } from './world.ts';

/** A first run on an idle machine takes a few seconds; a busy one gets its time. */
const FIRST_RUN_WAIT_SECONDS = 120;

export interface DevOptions {
  readonly port: number;
  readonly dir: string;
  readonly once: boolean;
  readonly say: (text: string) => void;
}

export async function runDev({ port, dir, once, say }: DevOptions): Promise<void> {
  await mkdir(dir, { recursive: true });
  let stopping = false;
  const interrupted = awaitSignal().then(() => {
    stopping = true;
    say('stopping');
  });
  const world = await openDevWorld(dir, say);
  try {
    const instance = await openInstance(world.config, tellOutcomes(say));
    try {
      if (stopping) return;
      const first = await instance.run({ waitSeconds: FIRST_RUN_WAIT_SECONDS });
      say(`first run done, of ${relative(process.cwd(), world.fleetDir)}:\n${textOfEnding(first).trimEnd()}`);
      if (once) return finishOnce(first);
      if (stopping) return;
      const listening = port === 0 ? await freePort() : port;
      const front = createFront({
        origin: () => `http://127.0.0.1:${listening}`,
        token: randomBytes(24).toString('base64url'),
        servers: async () => [],
      });
      const services = { port: listening, inOrder: port !== 0, beside: front.serve };
      const registries = await serveRegistries(instance, world, services);
      try {
        process.stdout.write(guide(world, registries));
        const runs = startRuns(instance, world.config, { result: reportChanges(say), failure: complain(say) }, first);
        await interrupted;
        await runs.stop();
      } finally {
        front.close();
        await registries.stop();
      }
    } finally {
      await instance.close();
    }
  } finally {
    await world.close();
  }
}

function finishOnce(first: RunResult): void {
  if (exitCodeOf(first) !== 0)
    throw new Failure('dev-first-run-failed', 'the first run did not end well; its lines above say why');
}

function reportChanges(say: (text: string) => void): (result: RunResult, before: RunResult | undefined) => void {
  return (result, before) => {
    const text = textOfChanges(result, before).trimEnd();
    if (text !== '') say(text);
  };
}

function complain(say: (text: string) => void): (failure: Failure) => void {
  return (failure) => say(`error ${failure.code}: ${failure.message}`);
}

const RETIRABLE = 'cluster/ops/calendar.yaml';

/** What to try next: three commands that work as they stand. */
function guide(world: DevWorld, { pages, urls }: DevRegistries): string {
  const fleet = relative(process.cwd(), world.fleetDir) || '.';
  const kubeconfig = relative(process.cwd(), world.kubeconfig);
  return [
    '',
    `cluster     ${world.clusterUrl}   kubeconfig ${kubeconfig}`,
    `repository  ${world.config.sources.map(({ repository }) => repository).join(', ')}`,
    ...pages.map((url) => `page        ${url}`),
    ...urls.map((url) => `registry    ${url}`),
    `state       ${relative(process.cwd(), join(world.fleetDir, '..'))} (delete it to start anew)`,
    '',
    'Try in another terminal:',
    `  kubectl --kubeconfig ${kubeconfig} get mcpservers,deployments,statefulsets -A`,
    ...urls.slice(0, 1).map((url) => `  curl -s '${url}?limit=3'`),
    existsSync(join(world.fleetDir, RETIRABLE))
      ? `  git -C ${fleet} rm -q ${RETIRABLE} && git -C ${fleet} commit -m 'Retire calendar'`
      : `  git -C ${fleet} commit -am 'My change'     (of a file in ${fleet}/cluster, or of registry.json)`,
    '',
    'Ctrl-C stops everything; the state stays.',
    '',
  ].join('\n');
}
