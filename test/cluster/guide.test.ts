// docs/install.md, followed to the letter on a real API server: every command of it, typed one after the other. A test of all
// pages does the same on the embedded server (test/docs). Where the cluster has skep already, nothing is touched.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KINDS } from '../../src/kinds/index.ts';
import { stepsOf } from '../docs/directives.ts';
import { PAGES } from '../docs/pages.ts';
import { runPage } from '../docs/run-page.ts';
import { openStage } from '../docs/stages.ts';
import { runPods } from '../harness/kubelet.ts';
import { hasKubectl } from './rendered.ts';
import { openServer } from './server.ts';

const isReal = (process.env.KUBECONFIG ?? '') !== '';
const NAMESPACES = ['skep', 'skep-edge', 'team-a', 'team-b'];
/** What the page leaves behind: namespaces that its reader would have had before. */
const LEFT = ['skep-edge', 'team-a', 'team-b'];

test.skipIf(!isReal || !hasKubectl)('the guide to installing is followed to the letter', async ({ skip }) => {
  const page = PAGES.find(({ path }) => path === 'docs/install.md');
  if (page === undefined) throw new Error('no guide');
  const server = await openServer();
  const client = await server.client('guide');
  const stage = await openStage('checkout');
  const ended = new AbortController();
  try {
    const kinds = (await client.resources()).filter(({ kind }) => KINDS.some((own) => own.kind === kind));
    const own = kinds.filter(({ apiVersion }) => apiVersion.startsWith('toolhive.stacklok.dev/'));
    const objects = (await Promise.all(own.map((kind) => client.list(kind)))).flat();
    const namespaces = await Promise.all(
      NAMESPACES.map((name) => client.get({ apiVersion: 'v1', kind: 'Namespace', name })),
    );
    if (objects.length > 0 || namespaces.some((one) => one !== undefined)) skip('this cluster has skep installed');
    for (const name of LEFT) server.later({ apiVersion: 'v1', kind: 'Namespace', name });
    const kubelet = (async () => {
      while (!ended.signal.aborted) {
        await runPods(client, NAMESPACES);
        await sleep(200);
      }
    })();
    const env = { ...stage.env, KUBECONFIG: server.kubeconfig };
    expect(await runPage(page.path, stepsOf(page).steps, { ...stage, env })).toBeUndefined();
    ended.abort();
    await kubelet;
  } finally {
    ended.abort();
    await stage.close();
    await server.close();
  }
});
