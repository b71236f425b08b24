// A server that sleeps, with the rights of its proxy's account: the rendered objects on the API server of the suite, their
// pods as processes. A real server has its own controllers, and refuses rights that the Role does not give.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createServerScale } from '#adapters/attach/scale.ts';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { openCredentials } from '#adapters/cluster/credentials.ts';
import { RUN_CONFIG_FILE, type RunConfig } from '#contracts/run-config.ts';
import { systemClock } from '#hosts/clock.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { MCPServer } from '#reconciler/kinds/mcpserver/index.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { runProxy, send, type TestedProxy } from '../gateway/proxy/world.ts';
import { cannotRunPods, openServerWithNode, type SuiteWithNode } from '../harness/node/suite.ts';
import { SETTINGS, schemas } from '../reconciler/kinds/fixture.ts';
import { writeKubeconfigOfAccount } from './account.ts';
import { eventually } from './server.ts';

const SLEEPER = fileURLToPath(new URL('../gateway/proxy/sleeper.mjs', import.meta.url));
const IMAGE = 'images.example.com/sleeper:1';
const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

const kubeconfig = process.env.KUBECONFIG ?? '';
const reason = await cannotRunPods(kubeconfig);

describe.skipIf(reason !== undefined)(`a server that sleeps ${reason ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sleep-'));
  const starts = join(folder, 'starts');
  let suite: SuiteWithNode;
  let admin: ConnectedCluster;
  let namespace: string;
  let proxy: TestedProxy | undefined;
  let own: string;

  beforeAll(async () => {
    suite = await openServerWithNode(kubeconfig);
    namespace = await suite.server.namespace('sleep');
    admin = await suite.server.client('suite');
    const children = renderedIn(namespace);
    for (const child of children) await admin.apply(child, { force: false });
    own = join(folder, 'kubeconfig');
    // The embedded server gives accounts no rights.
    if (suite.server.isReal)
      await writeKubeconfigOfAccount(suite.server.kubeconfig, namespace, own, 'drowsy-proxy-runner');
    else own = suite.server.kubeconfig;
    // The program gets its file by the command, since paths in arguments are those of the pod.
    await suite.run([namespace], {
      [IMAGE]: { command: [process.execPath, SLEEPER, 'stdio', starts] },
      // The proxy itself runs in this process.
      [SETTINGS.images.proxy]: { command: [process.execPath, '-e', 'setInterval(() => undefined, 60_000)'] },
    });
    // While pods of the Deployment still change, no proxy stops its server.
    await eventually(async () => existsSync(starts), Boolean);
    vi.stubEnv('KUBECONFIG', own);
    const sleep = { ...configIn(children).sleep, after_seconds: 2 } as NonNullable<RunConfig['sleep']>;
    const { name, transport, attach } = configIn(children);
    proxy = await runProxy({ name, namespace, transport, attach, sleep });
  });

  afterAll(async () => {
    await proxy?.stop();
    vi.unstubAllEnvs();
    await suite?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const started = () => readFileSync(starts, 'utf8').trim().split('\n').length;
  const begin = () => send(proxy ?? { url: '' }, 'initialize', INITIALIZE);
  const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'drowsy' };

  async function asleep(): Promise<void> {
    await eventually(
      async () => (await admin.get({ ...set, namespace }))?.spec,
      (spec) => isObject(spec) && spec.replicas === 0,
    );
  }

  test('is stopped and started with the rights of its own Role alone, once for 200 calls', async () => {
    await proxy?.written('the MCP server sleeps');
    await asleep();
    expect(started()).toBe(1);
    const answers = await Promise.all(Array.from({ length: 200 }, begin));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(started()).toBe(2);
  });

  test('stays asleep if its template changes, and runs again once it no longer sleeps', async () => {
    const object = { ...set, apiVersion: 'apps/v1', namespace };
    const replicas = async () => (await admin.get(object))?.spec;
    await proxy?.stop();
    await setPods(0);
    const changed = renderedIn(namespace, { args: ['changed'] }).find(({ kind }) => kind === 'StatefulSet');
    await admin.apply(changed ?? fail(), { force: true });
    expect(await replicas()).toMatchObject({
      replicas: 0,
      template: { spec: { containers: [{ args: ['changed'] }] } },
    });
    const live = await admin.get(object);
    const awake = renderedIn(namespace, {}, {}, live).find(({ kind }) => kind === 'StatefulSet');
    await admin.apply(awake ?? fail(), { force: true });
    expect(await replicas()).toMatchObject({ replicas: 1 });
    const later = renderedIn(namespace, {}, {}, await admin.get(object)).find(({ kind }) => kind === 'StatefulSet');
    expect(later?.spec).not.toHaveProperty('replicas', 1);
    await admin.apply(later ?? fail(), { force: true });
    expect(await replicas()).toMatchObject({ replicas: 1 });
  });

  function fail(): never {
    throw new Error('no StatefulSet');
  }

  /** As the proxy does. */
  async function setPods(pods: number): Promise<void> {
    const credentials = await openCredentials({ kubeconfig: own, clock: systemClock });
    const place = { server: credentials.server, namespace, credentials: credentials.current };
    await createServerScale({ ...place, statefulSet: 'drowsy', deployment: 'drowsy' }).declare(pods);
  }

  test('is the only server whose number of pods the proxy may set', async () => {
    const credentials = await openCredentials({ kubeconfig: own, clock: systemClock });
    const scaleOf = (statefulSet: string, deployment: string) =>
      createServerScale({
        ...{ server: credentials.server, namespace, credentials: credentials.current, statefulSet, deployment },
      });
    expect((await scaleOf('drowsy', 'drowsy').countProxies()).pods).toBe(1);
    if (!suite.server.isReal) return;
    await expect(scaleOf('other', 'drowsy').declare(0)).rejects.toThrow('403');
    await expect(scaleOf('drowsy', 'other').countProxies()).rejects.toThrow('403');
  });

  function renderedIn(
    place: string,
    more: JsonObject = {},
    annotations: JsonObject = { 'skep.dev/sleep-after': '15m' },
    live?: KubeObject,
  ): readonly KubeObject[] {
    const written = {
      ...{ apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer' },
      metadata: { name: 'drowsy', namespace: place, annotations },
      spec: { image: IMAGE, transport: 'stdio', ...more },
    };
    const resource = schemas.get(MCPServer)?.withDefaults(written);
    const children = MCPServer.children(
      resource as never,
      { find: (kind) => (kind === 'StatefulSet' ? live : undefined), all: () => [] },
      { ...SETTINGS, pullSecrets: [] },
    );
    const kinds = ['ServiceAccount', 'Role', 'RoleBinding', 'ConfigMap', 'StatefulSet', 'Deployment'];
    return children.filter(({ kind }) => kinds.includes(kind));
  }

  function configIn(children: readonly KubeObject[]): RunConfig {
    const data = children.find(({ kind }) => kind === 'ConfigMap')?.data;
    return JSON.parse(String(isObject(data) ? data[RUN_CONFIG_FILE] : ''));
  }
});
