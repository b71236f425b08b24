// Plays the scenarios against the API server that KUBECONFIG names and stores what it answers under fixtures/.
//   KUBECONFIG=... node test/recordings/record.ts [SCENARIO...]
// With no names: all of them, and fixtures of scenarios that are no more are removed.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Api } from './api.ts';
import { connect } from './api.ts';
import { FIXTURES, writeFixture } from './fixture.ts';
import type { RecordedStep, Stage } from './play.ts';
import { clear, play } from './play.ts';
import { printJson } from './print.ts';
import type { Scenario } from './scenario.ts';
import { at } from './scenario.ts';
import { SCENARIOS } from './scenarios/index.ts';

const AT_ONCE = 4;
const DEADLINE_MS = 60_000;

/** What the controllers of a real server put into every new namespace. */
const NAMESPACE_CONTENT = ['configmaps/kube-root-ca.crt', 'serviceaccounts/default'];

async function main(): Promise<void> {
  const kubeconfig = process.env.KUBECONFIG;
  if (kubeconfig === undefined || kubeconfig === '')
    throw new Error('KUBECONFIG has to name the API server to record from');
  const names = process.argv.slice(2);
  const chosen = SCENARIOS.filter((scenario) => names.length === 0 || names.includes(scenario.name));
  const unknown = names.filter((name) => !chosen.some((scenario) => scenario.name === name));
  if (unknown.length > 0) throw new Error(`no such scenario: ${unknown.join(', ')}`);
  const api = await connect(kubeconfig);
  const limit = pLimit(AT_ONCE);
  await Promise.all(chosen.map((scenario) => limit(() => record(stageOf(api), scenario))));
  if (names.length === 0) await storeOverview(api);
  await api.close();
}

function stageOf(api: Api): Stage {
  let lastWrite = 0;
  return {
    api,
    nextSecond: async () => {
      await sleep(Math.max(0, lastWrite + 1000 - Date.now()));
      lastWrite = Date.now();
    },
    namespaceReady: (namespace) => waitForContent(api, namespace),
    deadlineMs: DEADLINE_MS,
  };
}

async function waitForContent(api: Api, namespace: string): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  for (const part of NAMESPACE_CONTENT) {
    const path = `/api/v1/namespaces/${namespace}/${part}`;
    while ((await api.call({ method: 'GET', path, query: {} })).status !== 200) {
      if (Date.now() > deadline)
        throw new Error(`${api.url} does not make ${path}: is its controller manager running?`);
      await sleep(100);
    }
  }
}

async function record(stage: Stage, scenario: Scenario): Promise<void> {
  const { name, about } = scenario;
  try {
    await clear(stage, scenario);
    const steps: RecordedStep[] = [];
    for await (const step of play(stage, scenario)) steps.push(step);
    await clear(stage, scenario);
    writeFixture({ scenario: name, about, steps });
    process.stderr.write(`${name}\n`);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function storeOverview(api: Api): Promise<void> {
  const known = new Set(SCENARIOS.map((scenario) => `${scenario.name}.json`));
  for (const file of readdirSync(FIXTURES)) {
    if (!known.has(file)) rmSync(join(FIXTURES, file));
  }
  const version = await api.call({ method: 'GET', path: '/version', query: {} });
  const server = at(version.body, '/gitVersion') ?? null;
  writeFileSync(join(FIXTURES, 'server.json'), `${printJson({ gitVersion: server })}\n`);
}

await main();
