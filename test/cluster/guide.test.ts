// docs/install.md, followed to the letter on a real API server: every command of it, typed one after the other. A test of all
// pages does the same on the embedded server (test/docs). Where the cluster has skep already, nothing is touched.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { ResourceId } from '#std/problem.ts';
import { stepsOf } from '../docs/directives.ts';
import { PAGES } from '../docs/pages.ts';
import { runPage } from '../docs/run-page.ts';
import { openStage } from '../docs/stages.ts';
import { runPods } from '../harness/kubelet.ts';
import { hasKubectl } from './rendered.ts';
import { kindOf, openServer } from './server.ts';

const isReal = (process.env.KUBECONFIG ?? '') !== '';
const NAMESPACES = ['skep', 'skep-edge', 'team-a', 'team-b'];

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
    // Kubelets of its own would pull images that no release has pushed yet.
    if ((await client.list(await kindOf(client, 'v1', 'Node'))).length > 0) skip('this cluster has nodes');
    for (const id of leftBehind(own.length === 0)) server.later(id);
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

/** What is to be taken away after the page; the definitions, too, where they came with it. */
function leftBehind(definitions: boolean): readonly ResourceId[] {
  const rbac = 'rbac.authorization.k8s.io/v1';
  const roles = ['skep-cluster', 'skep-fleet'].flatMap((name) => [name, `${name}-edge`]);
  return [
    ...NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', name })),
    ...roles.flatMap((name) => ['ClusterRole', 'ClusterRoleBinding'].map((kind) => ({ apiVersion: rbac, kind, name }))),
    ...KINDS.filter(() => definitions).map((kind) => {
      const { apiVersion, kind: definition, metadata } = crd(kind, 'toolhive.stacklok.dev');
      return { apiVersion, kind: definition, name: metadata.name };
    }),
  ];
}
