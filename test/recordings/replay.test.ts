// The embedded cluster answers as the real API server did that was recorded: every scenario is played against it and
// compared with its fixture. What differs knowingly is listed in known-differences.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REAL_CLOCK, startTestCluster, type TestCluster } from '../harness/cluster.ts';
import { PATIENCE_MS } from '../harness/patience.ts';
import type { Api } from './api.ts';
import { connect } from './api.ts';
import { compareSteps, type Difference } from './compare.ts';
import { readFixture } from './fixture.ts';
import { isKnown, KNOWN_DIFFERENCES } from './known-differences.ts';
import type { RecordedStep, Stage } from './play.ts';
import { play } from './play.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios/index.ts';

/** Seconds that the server's clock is ahead: a step that wants another second gets it at once. */
let ahead = 0;
let cluster: TestCluster;
let api: Api;
const met = new Set<unknown>();

beforeAll(async () => {
  cluster = await startTestCluster({ clock: { ...REAL_CLOCK, now: () => Date.now() + ahead * 1000 } });
  api = await connect(cluster.kubeconfigPath);
});

afterAll(async () => {
  await api.close();
  await cluster.stop();
});

function stage(): Stage {
  return {
    api,
    nextSecond: async () => {
      ahead += 1;
    },
    namespaceReady: async () => undefined,
    deadlineMs: PATIENCE_MS,
  };
}

async function replay(scenario: Scenario): Promise<{ steps: RecordedStep[]; broken?: string }> {
  const steps: RecordedStep[] = [];
  try {
    for await (const step of play(stage(), scenario)) steps.push(step);
    return { steps };
  } catch (error) {
    return { steps, broken: error instanceof Error ? error.message : String(error) };
  }
}

function explain({ step, reason, pointer, real, ours }: Difference): string {
  return `${step}. ${reason}\n     ${pointer}\n     real: ${real}\n     ours: ${ours}`;
}

describe('the embedded cluster answers like the recorded server', () => {
  test.concurrent.each(SCENARIOS.map((scenario) => ({ ...scenario, title: scenario.name })))(
    '$title: $about',
    async (scenario) => {
      const recorded = readFixture(scenario.name);
      const { steps, broken } = await replay(scenario);
      const unexpected = compareSteps(recorded.steps, steps).filter((difference) => {
        const known = KNOWN_DIFFERENCES.filter((entry) => isKnown(entry, scenario.name, difference));
        for (const entry of known) met.add(entry);
        return known.length === 0;
      });
      expect(unexpected.map(explain).join('\n')).toBe('');
      expect(broken ?? `${steps.length} steps`).toBe(`${recorded.steps.length} steps`);
    },
  );

  test('every known difference still is one', () => {
    expect(KNOWN_DIFFERENCES.filter((entry) => !met.has(entry))).toEqual([]);
  });
});
