// `skep run` within the test's own process, on a world of its own: what it says, and where it listens.

import type { Config } from '#hosts/config/config.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { createLogger } from '#hosts/log.ts';
import { keepRunning } from '#hosts/reconciler/loop/keep.ts';
import { tellPeople } from '#hosts/reconciler/loop/teller.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { PATIENCE_MS } from '../../harness/patience.ts';
import type { World } from '../../harness/world.ts';

export interface Keeper {
  /** Of its listener. */
  readonly url: string;
  /** Everything said so far. */
  output(): string;
  /** Resolves with what was said since `from`, once it holds the text; rejects where that takes for ever, or where it ended before. */
  said(text: string, from?: number): Promise<string>;
  /** As a signal would; resolves when it has ended. */
  stop(): Promise<void>;
  /** Whether its last run ended in time. */
  readonly ended: Promise<boolean>;
}

export async function startKeeper(world: World, changes: Readonly<Record<string, unknown>> = {}): Promise<Keeper> {
  const folder = temporaryFolder();
  let text = '';
  const listeners = new Set<() => void>();
  function hear(more: string): void {
    text += more;
    for (const each of listeners) each();
  }
  let finish = (): void => undefined;
  const enough = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const teller = tellPeople({ out: hear, err: hear }, INSTALLED);
  const logger = createLogger('info', { isTTY: true, write: hear });
  const running = keepRunning(configOf(world, folder.path, changes), { enough, teller, logger }).finally(folder.remove);
  const ended = running.then(
    () => new Error('ended'),
    (error: unknown) => error,
  );

  async function said(wanted: string, from = 0): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(new Error(`"${wanted}" was not said in time:\n${text}`)), PATIENCE_MS);
      function end(error?: unknown): void {
        clearTimeout(timer);
        listeners.delete(check);
        if (error === undefined) resolve(text.slice(from));
        else reject(error);
      }
      function check(): void {
        if (text.includes(wanted, from)) end();
      }
      listeners.add(check);
      void ended.then(end);
      check();
    });
  }

  const [, url = ''] = /listening at (\S+)/.exec(await said('keeping')) ?? [];
  return {
    url,
    output: () => text,
    said,
    ended: running,
    async stop() {
      finish();
      await running;
    },
  };
}

/** Of such a world, listening at a port that the system chooses; members of `changes` take the place of its own. */
function configOf(world: World, dir: string, changes: Readonly<Record<string, unknown>>): Config {
  const config = {
    name: 'test',
    sources: [{ name: 'fleet', repository: `${world.git.url}/fleet.git`, branch: 'main', path: 'cluster' }],
    // Never by itself, but for the first run.
    schedule: '0 0 0 29 2 *',
    jitterSeconds: 0,
    cluster: { kubeconfig: world.cluster.kubeconfigPath },
    apply: { maxDeletesPercent: 100 },
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    stateDir: dir,
    http: { address: '127.0.0.1:0' },
    ...changes,
  };
  return readConfig({ text: JSON.stringify(config), file: 'skep.yaml', environment: {} });
}

async function runsBegun({ url }: Keeper): Promise<number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  const samples = lines.filter((line) => line.startsWith('skep_runs_begun_total{'));
  return samples.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0);
}

/** Until so many more runs have begun. */
export async function awaitRuns(keeper: Keeper, more = 3): Promise<void> {
  const before = await runsBegun(keeper);
  await eventually(
    () => runsBegun(keeper),
    (now) => now >= before + more,
  );
}
