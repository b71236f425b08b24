// Plays the scenarios against the API server that KUBECONFIG names and stores what it answers under fixtures/.
//   KUBECONFIG=... node test/recordings/record.ts [SCENARIO...]
// With no names: all of them, and fixtures of scenarios that are no more are removed.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Api } from './api.ts';
import { connect } from './api.ts';
import type { Recording, Stage } from './play.ts';
import { play } from './play.ts';
import { FIXTURES, writeFixture } from './fixture.ts';
import { printJson } from './print.ts';
import { at, UNTIL_DEADLINE_MS } from './scenario.ts';
import { SCENARIOS } from './scenarios/index.ts';

const AT_ONCE = 4;

/** What the controllers of a real server put into every new namespace. */
const NAMESPACE_CONTENT = ['configmaps/kube-root-ca.crt', 'serviceaccounts/default'];

async function main(): Promise<void> {
  const kubeconfig = process.env.KUBECONFIG;
  if (kubeconfig === undefined || kubeconfig === '') throw new Error('KUBECONFIG has to name the API server to record from');
  const names = process.argv.slice(2);
  const chosen = SCENARIOS.filter((scenario) => names.length === 0 || names.includes(scenario.name));
  const unknown = names.filter((name) => !chosen.some((scenario) => scenario.name === name));
  if (unknown.length > 0) throw new Error(`no such scenario: ${unknown.join(', ')}`);
  const api = await connect(kubeconfig);
  const limit = pLimit(AT_ONCE);
  await Promise.all(chosen.map((scenario) => limit(() => store(play(stageOf(api), scenario)))));
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
  };
}

async function waitForContent(api: Api, namespace: string): Promise<void> {
  const deadline = Date.now() + UNTIL_DEADLINE_MS;
  for (const part of NAMESPACE_CONTENT) {
    const path = `/api/v1/namespaces/${namespace}/${part}`;
    while ((await api.call({ method: 'GET', path, query: {} })).status !== 200) {
      if (Date.now() > deadline) throw new Error(`${api.url} does not make ${path}: is its controller manager running?`);
      await sleep(100);
    }
  }
}

async function store(playing: Promise<Recording>): Promise<void> {
  const recording = await playing;
  writeFixture(recording);
  process.stderr.write(`${recording.scenario}\n`);
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
