// A problem never deletes: ways in which something that Git no longer seems to declare is left as it exists.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openRepository } from '#adapters/git/repository.ts';
import { createOutbound } from '#adapters/http/outbound.ts';
import { systemClock } from '#hosts/clock.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { reconcile } from '#reconciler/run/run.ts';
import { formatId } from '#std/problem.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { optionsOf, startWorld, type World } from '../../harness/world.ts';
import { publish } from './fleet.ts';

const SETTINGS = 'cluster/settings.yaml';
const CONFIG_MAPS = '/api/v1/namespaces/tools/configmaps';
const SERVERS = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers';
const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'test' });
const folder = temporaryFolder();
let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(async () => {
  await Promise.all([world.close(), outbound.close()]);
  folder.remove();
});

beforeEach(async () => {
  publish(world.fleet, {});
  world.fleet.commit({ [SETTINGS]: settings('v') });
  await world.run();
});

function settings(value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: tools}\ndata: {k: ${value}}\n`;
}

interface Reading {
  readonly name?: string;
  readonly repository?: string;
  readonly path?: string;
  readonly namespaces?: readonly string[];
}

/** A run of the same instance that reads its source in another way. */
function readAs({ name = 'fleet', repository = 'fleet.git', path = 'cluster', namespaces = ['*'] }: Reading) {
  const location = {
    repository: `${world.git.url}/${repository}`,
    ref: { branch: 'main' },
    dir: `${folder.path}/${repository}`,
  };
  const source = {
    name,
    path,
    repository: openRepository({ ...location, outbound, allowFiles: false, clock: systemClock }),
  };
  const kept = { cache: new Map<string, unknown>(), remembered: new Map<string, string>() };
  const deps = {
    cluster: world.client,
    clock: systemClock,
    sources: [source],
    ...kept,
    random: randomBytes,
    digestKey: openDigestKey(world.client, 'test', 'default'),
    progress: () => undefined,
  };
  return reconcile(deps, optionsOf({ namespaces, waitSeconds: 0 }));
}

/** Held, deleted and complained about. */
function reported({ outcomes, plan, problems, failures }: RunResult): string[] {
  return [
    ...outcomes.filter(({ action }) => action === 'deleted').map(({ resource }) => `deleted ${formatId(resource)}`),
    ...plan.held.map(({ resource, reason }) => `held ${formatId(resource)}: ${reason}`),
    ...problems.map(({ code, place }) => `${code} ${place?.file ?? ''}`),
    ...failures.map(({ code }) => code),
  ];
}

test('a copy of one of our objects, labels and all, is somebody else’s', async () => {
  const original = (await world.cluster.send('GET', `${CONFIG_MAPS}/settings`)).body;
  const { labels, namespace } = original.metadata;
  await world.cluster.send('POST', CONFIG_MAPS, {
    body: { ...original, metadata: { name: 'copy', namespace, labels } },
  });
  const result = await world.run();
  await world.cluster.send('DELETE', `${CONFIG_MAPS}/copy`);
  expect(reported(result)).toEqual([
    'held tools/ConfigMap/copy: it has the labels of this instance, which never applied it: it may be a copy',
  ]);
});

test('a source with a new name that cannot be reached keeps what it declared under the old one', async () => {
  const reason = 'its source is not known, and it may belong to source renamed: it could not be read';
  expect(reported(await readAs({ name: 'renamed', repository: 'nowhere.git' }))).toEqual([
    `held tools/ConfigMap/settings: ${reason}`,
    `held Namespace/tools: ${reason}`,
    `held tools/MCPGroup/team: ${reason}`,
    'git-not-a-repository',
  ]);
});

test('a path at which the commit has nothing is an error, not an empty fleet', async () => {
  const result = await readAs({ path: 'clusters' });
  expect(reported(result).filter((line) => !line.startsWith('held'))).toEqual(['source-path-not-found']);
  expect(result.plan.held).toHaveLength(3);
});

test('a path may be written with dots and slashes', async () => {
  expect(reported(await readAs({ path: './cluster/' }))).toEqual([]);
});

test('a manifest that became a symbolic link is not gone', async () => {
  world.fleet.commit({ 'elsewhere/settings.yaml': settings('v'), [SETTINGS]: undefined });
  const cwd = world.fleet.git('rev-parse', '--show-toplevel');
  const target = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd, input: '../elsewhere/settings.yaml' });
  world.fleet.git('update-index', '--add', '--cacheinfo', `120000,${target.toString().trim()},${SETTINGS}`);
  world.fleet.git('commit', '--quiet', '--message', 'A link');
  world.fleet.publish();
  const result = await world.run();
  world.fleet.git('reset', '--quiet', '--hard');
  expect(reported(result)).toEqual([
    'held tools/ConfigMap/settings: source fleet: one of its documents could not be identified',
    `link-not-followed ${SETTINGS}`,
  ]);
});

test('a manifest that is not UTF-8 is not applied with other characters', async () => {
  world.fleet.commit({ [SETTINGS]: Buffer.from(settings('caf\u00e9'), 'latin1') });
  expect(reported(await world.run())).toEqual([
    'held tools/ConfigMap/settings: source fleet: one of its documents could not be identified',
    `encoding-invalid ${SETTINGS}`,
  ]);
});

test('a List whose items have another name holds nobody knows what', async () => {
  world.fleet.commit({ [SETTINGS]: 'apiVersion: v1\nkind: List\nitem: []\n' });
  const [held, problem] = reported(await world.run());
  expect(held).toBe('held tools/ConfigMap/settings: source fleet: one of its documents could not be identified');
  expect(problem).toBe(`missing-identity ${SETTINGS}`);
});

test('what lives in a namespace outside of the patterns is not touched', async () => {
  world.fleet.commit({ [SETTINGS]: undefined });
  const result = await readAs({ namespaces: ['team-*'] });
  expect(reported(result)).toContain(
    'held tools/ConfigMap/settings: namespace tools is not one that this instance may touch (namespaces of skep.yaml)',
  );
});

test('what another made is not taken over for a child: the family is held', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one-runconfig' }, data: { theirs: 'x' } };
  await world.cluster.send('POST', CONFIG_MAPS, { body });
  publish(world.fleet, { one: '1.0.0' });
  world.fleet.commit({ [SETTINGS]: settings('v') });
  const result = await world.run({ waitSeconds: 0 });
  const living = (await world.cluster.send('GET', `${CONFIG_MAPS}/one-runconfig`)).body;
  const owner = (await world.cluster.send('GET', `${SERVERS}/one`)).body;
  await world.cluster.send('DELETE', `${CONFIG_MAPS}/one-runconfig`);
  expect(reported(result)).toEqual(['child-foreign cluster/one.yaml']);
  expect(owner.status).toMatchObject({
    phase: 'Failed',
    message: expect.stringContaining('does not belong to this instance'),
  });
  expect(result.outcomes.map(({ resource }) => formatId(resource))).toEqual(['tools/MCPServer/one']);
  expect(living.metadata.labels).toBeUndefined();
});
