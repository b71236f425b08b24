// Thirty random histories, others each time: never is something deleted that a source declares, or that is not the instance's,
// and in the end the cluster is as Git says. SKEP_SEED plays some of them again (numbers, with commas between them); what once
// failed is in failing-seeds.ts.

import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { keepLists } from '#adapters/cluster/kept/kept-lists.ts';
import { systemClock } from '#hosts/clock.ts';
import { openRepeatedRuns } from '#hosts/reconciler/instance/runs/repeated-run.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { openReuse } from '#reconciler/run/reuse.ts';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { API_GROUP } from '../../harness/world.ts';
import { FAILING_SEEDS } from '../../histories/failing-seeds.ts';
import { playHistory } from '../../histories/play.ts';
import type { Staying } from '../../histories/player.ts';

const COUNT = 30;
const SEEDS =
  process.env.SKEP_SEED === undefined
    ? [...FAILING_SEEDS, ...Array.from({ length: COUNT }, () => randomInt(2 ** 31))]
    : process.env.SKEP_SEED.split(',').map(Number);
let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster({ workloadsReadyAfterMs: 3_600_000 });
  const client = await connect('skep-definitions');
  for (const kind of KINDS) await client.apply(crd(kind, API_GROUP), { force: true });
  await client.close();
});

afterAll(() => cluster.stop());

function connect(fieldManager: string) {
  const { kubeconfigPath: kubeconfig } = cluster;
  return connectCluster({ kubeconfig, fieldManager, concurrency: 16, version: 'test', clock: systemClock });
}

const ignore = (): void => undefined;
const fail = (error: unknown): void => {
  throw error;
};
const KEPT = { changed: ignore, lost: ignore, missed: ignore, say: ignore, fail };

/** As in a process that stays. */
function watching(client: ConnectedCluster): Opened {
  const watched = keepLists(client, { ...KEPT, clock: systemClock });
  const repeated = openRepeatedRuns(watched, systemClock, { keepsLists: KEPT });
  return { client: watched, staying: { reuse: openReuse(), repeated } };
}

interface Opened {
  readonly client: ConnectedCluster;
  readonly staying?: Staying;
}

test.each([
  { how: 'listing', over: (client: ConnectedCluster): Opened => ({ client }) },
  { how: 'watching', over: watching },
])(
  `histories of the seeds ${SEEDS.join(', ')} delete nothing that is declared, and end as Git says: $how`,
  async ({ how, over }) => {
    const wrong: string[] = [];
    for (const [number, seed] of SEEDS.entries()) {
      const instance = `h${number}-${how}`;
      const { client, staying } = over(await connect(`skep-${instance}`));
      const { steps, violations } = await playHistory(client, instance, seed, staying);
      if (violations.length > 0)
        wrong.push([`seed ${seed}:`, ...steps, ...violations.map((each) => `! ${each}`)].join('\n  '));
      await client.close();
    }
    expect(wrong.join('\n')).toBe('');
  },
  600_000,
);
