// A fleet from its first commit to its last, on the suite's API server. The tests are one story, told in order. Whether
// pods come up is not asked: a server without nodes, or without our images, never shows that.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { exitCodeOf, summaryOf } from '#reconciler/run/result.ts';
import { formatProblem } from '#std/problem.ts';
import { connect } from '../recordings/api.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

let server: SuiteServer;
let fleet: Fleet;
let namespace: string;

beforeAll(async () => {
  server = await openServer();
  fleet = await openFleet(server);
  namespace = `${fleet.home}-fleet`;
  server.later({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
});

afterAll(async () => {
  await fleet?.close();
  await server.close();
});

function namespaceText(): string {
  return `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`;
}

function serverText(name: string, spec: string): string {
  return `apiVersion: ${fleet.group}/v1alpha1\nkind: MCPServer\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec:\n  ${spec}\n`;
}

const CLOCK = 'image: registry.example.com/clock:1.0.0\n  transport: stdio';
const WEATHER =
  'image: registry.example.com/weather:1.0.0\n  transport: streamable-http\n  env: [{name: UNITS, value: metric}]';

async function taken(options: Parameters<Fleet['run']>[0] = {}): Promise<RunResult> {
  const result = await fleet.run(options);
  expect(result.problems.map(formatProblem)).toEqual([]);
  expect(result.failures.map(({ message }) => message)).toEqual([]);
  expect(result.outcomes.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
  return result;
}

/** Members by id; of what controllers and `settle` write to, the generation, of the others the resourceVersion. */
async function versions(): Promise<Record<string, string>> {
  const living = await fleet.members();
  return Object.fromEntries(
    [...living].map(([id, { metadata }]) => [id, `${metadata.uid} ${metadata.generation ?? metadata.resourceVersion}`]),
  );
}

async function living(id: string): Promise<KubeObject> {
  const found = (await fleet.members()).get(id);
  if (found === undefined) throw new Error(`${id} does not live`);
  return found;
}

describe('a fleet', () => {
  test('the first commit is made: namespace, resources and their children', async () => {
    fleet.git.commit({
      'namespace.yaml': namespaceText(),
      'group.yaml': `apiVersion: ${fleet.group}/v1alpha1\nkind: MCPGroup\nmetadata: {name: all, namespace: ${namespace}}\nspec: {description: everything}\n`,
      'clock.yaml': serverText('clock', CLOCK),
      'weather.yaml': serverText('weather', `${WEATHER}\n  groupRef: all`),
    });
    const result = await taken();
    expect(exitCodeOf(result)).toBe(0);
    expect(summaryOf(result)).toMatchObject({ configured: 0, deleted: 0, held: 0, failed: 0 });
    const ids = Object.keys(await versions());
    expect(ids).toEqual(
      expect.arrayContaining([
        `Namespace/${namespace}`,
        `${namespace}/MCPGroup/all`,
        `${namespace}/MCPServer/clock`,
        `${namespace}/Deployment/clock`,
        `${namespace}/StatefulSet/clock`,
        `${namespace}/ConfigMap/clock-runconfig`,
        `${namespace}/Service/mcp-weather-proxy`,
      ]),
    );
  });

  test('children belong to their resource', async () => {
    const owner = await living(`${namespace}/MCPServer/clock`);
    const child = await living(`${namespace}/Deployment/clock`);
    expect(child.metadata.ownerReferences).toMatchObject([
      { kind: 'MCPServer', name: 'clock', uid: owner.metadata.uid, controller: true },
    ]);
  });

  test('the status of a resource is written for itself, by the same manager', async () => {
    const { metadata, status } = await living(`${namespace}/MCPServer/clock`);
    expect(status).toBeDefined();
    const ours = metadata.managedFields?.filter(({ manager }) => manager === 'skep-pipeline') ?? [];
    expect(ours.map(({ operation, subresource }) => [operation, subresource]).sort()).toEqual(
      [
        ['Apply', 'status'],
        ['Apply', undefined],
      ].sort(),
    );
  });

  test('a second run writes nothing', async () => {
    await taken();
    const before = await versions();
    const result = await taken();
    expect(result.outcomes).toEqual([]);
    expect(result.plan.batches).toEqual([]);
    expect(await versions()).toEqual(before);
  });

  test('a change touches what it is about and nothing else', async () => {
    const before = await versions();
    fleet.git.commit({
      'clock.yaml': serverText('clock', CLOCK.replace('1.0.0', '1.1.0')),
      'weather.yaml': undefined,
      'news.yaml': serverText('news', CLOCK.replace('clock', 'news')),
    });
    await taken();
    await eventually(versions, (now) => Object.keys(now).every((id) => !id.includes('weather')));
    const after = await versions();
    const same = Object.keys(before).filter((id) => after[id] === before[id]);
    expect(same).toEqual(
      expect.arrayContaining([
        `Namespace/${namespace}`,
        `${namespace}/MCPGroup/all`,
        `${namespace}/Service/mcp-clock-proxy`,
        // The proxy reads again which server is behind it.
        `${namespace}/Deployment/clock`,
      ]),
    );
    const touched = Object.keys(after).filter((id) => after[id] !== before[id] && !id.includes('news'));
    expect(touched).toEqual([
      `${namespace}/ConfigMap/clock-runconfig`,
      `${namespace}/MCPServer/clock`,
      `${namespace}/StatefulSet/clock`,
    ]);
  });

  test('what somebody changes of ours is put back, what they add stays', async () => {
    const api = await connect(server.kubeconfig);
    const path = `/api/v1/namespaces/${namespace}/configmaps/clock-runconfig`;
    const body = JSON.stringify({
      data: { 'runconfig.json': '{}', note: 'theirs' },
      metadata: { annotations: { 'example.com/note': 'theirs' } },
    });
    const patched = await api.call({
      method: 'PATCH',
      path,
      query: { fieldManager: 'somebody' },
      contentType: 'application/merge-patch+json',
      body,
    });
    await api.close();
    expect(patched.status).toBe(200);
    const result = await fleet.run();
    expect(result.problems.map(({ code }) => code)).toEqual(['field-set-back']);
    expect(result.outcomes.map(({ action, resource }) => [action, resource.name])).toEqual([
      ['configured', 'clock-runconfig'],
    ]);
    const { data, metadata } = await living(`${namespace}/ConfigMap/clock-runconfig`);
    expect(data).toMatchObject({ note: 'theirs' });
    expect(String((data as Record<string, string>)['runconfig.json'])).toContain('clock:1.1.0');
    expect(metadata.annotations).toMatchObject({ 'example.com/note': 'theirs' });
    expect((await taken()).outcomes).toEqual([]);
  });

  test('a child that somebody deletes comes back', async () => {
    const gone = await living(`${namespace}/Service/mcp-clock-proxy`);
    await fleet.client.remove(
      { apiVersion: 'v1', kind: 'Service', namespace, name: 'mcp-clock-proxy' },
      gone.metadata.uid ?? '',
    );
    const result = await taken();
    expect(result.outcomes.map(({ action, resource }) => [action, resource.name])).toEqual([
      ['created', 'mcp-clock-proxy'],
    ]);
  });

  test('an invalid manifest changes nothing', async () => {
    const before = await versions();
    fleet.git.commit({
      'clock.yaml': serverText('clock', 'image: registry.example.com/clock:2.0.0\n  transport: pigeon'),
    });
    const result = await fleet.run();
    expect(result.problems.map(({ code, place }) => [code, place?.file])).toEqual([
      ['schema-enum', expect.stringContaining('clock.yaml')],
    ]);
    expect(result.outcomes).toEqual([]);
    expect(await versions()).toEqual(before);
  });

  test('an empty repository ends the fleet, once that is approved', async () => {
    fleet.git.commit({
      'clock.yaml': undefined,
      'news.yaml': undefined,
      'group.yaml': undefined,
      'namespace.yaml': undefined,
      'README.md': 'empty',
    });
    const before = await versions();
    const [waiting] = (await taken()).plan.waiting;
    expect(await versions()).toEqual(before);
    if (waiting === undefined) throw new Error('nothing waits');
    await fleet.approve(waiting.hash);
    const result = await taken();
    expect(summaryOf(result)).toMatchObject({ created: 0, configured: 0, failed: 0 });
    await eventually(versions, (now) => Object.keys(now).length === 0);
  });
});
