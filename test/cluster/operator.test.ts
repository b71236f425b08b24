// An instance without sources, with the rights of manifests/install: it watches what others apply, and acts at each change.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { keepRunning } from '#hosts/reconciler/loop/keep.ts';
import { tellPeople } from '#hosts/reconciler/loop/teller.ts';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import { putUp, rightsFor, writeKubeconfigOfAccount } from './account.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'skep-operator-'));
let server: SuiteServer;
let others: ConnectedCluster;
let namespace: string;
let group: string;
let said = '';
let isEnough = (): void => undefined;
let running: Promise<boolean> | undefined;

beforeAll(async () => {
  server = await openServer();
  others = await server.client('others');
  group = newGroup('operator');
  await defineKinds(server, others, group);
  const home = await server.namespace('home');
  namespace = await server.namespace('operator');
  let kubeconfig = server.kubeconfig;
  if (server.isReal) {
    await putUp(server, others, rightsFor(home, group));
    kubeconfig = join(folder, 'account.kubeconfig');
    await writeKubeconfigOfAccount(server.kubeconfig, home, kubeconfig);
  }
  const settings = {
    apiGroup: group,
    sources: [],
    scope: 'cluster',
    namespaces: [namespace],
    // It has no part in this.
    schedule: '0 0 0 1 1 *',
    cluster: { kubeconfig },
    stateDir: join(folder, 'state'),
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
  };
  const config = readConfig({ text: JSON.stringify(settings), file: 'skep.yaml', environment: {} });
  const enough = new Promise<void>((resolve) => {
    isEnough = resolve;
  });
  const note = (text: string): void => {
    said += text;
  };
  const teller = tellPeople({ out: note, err: note }, INSTALLED);
  running = keepRunning(config, { enough, teller, logger: pino({ level: 'silent' }) });
});

afterAll(async () => {
  isEnough();
  await running;
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function mcpServer(image: string): KubeObject {
  const metadata = { name: 'clock', namespace };
  return { apiVersion: `${group}/v1beta1`, kind: 'MCPServer', metadata, spec: { image, transport: 'stdio' } };
}

function workload(): Promise<KubeObject | undefined> {
  return others.get({ apiVersion: 'apps/v1', kind: 'StatefulSet', namespace, name: 'clock' });
}

test('what is applied, changed and deleted reaches the children, with the rights that are installed', async () => {
  for (const image of ['images.example.com/clock:1', 'images.example.com/clock:2']) {
    await others.apply(mcpServer(image), { force: true });
    await eventually(workload, (found) => JSON.stringify(found?.spec ?? '').includes(image));
  }
  const { metadata } = (await others.get(idOf(mcpServer('')))) ?? mcpServer('');
  const writers = metadata.managedFields?.filter(({ subresource }) => !subresource).map(({ manager }) => manager);
  expect(writers).toEqual(['skep-others']);
  await others.remove(idOf(mcpServer('')), metadata.uid ?? '');
  await eventually(workload, (found) => found === undefined);
  expect(said).not.toMatch(/not watched|approval|forbidden/);
});
