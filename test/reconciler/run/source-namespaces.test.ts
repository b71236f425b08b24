// Objects that name no namespace are in the namespace of their source, in a run, in a plan and in `skep validate`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runValidation } from '#cli/offline/validation.ts';
import { findManifestFolders } from '#hosts/config/repository.ts';
import { formatId, formatProblem } from '#std/problem.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { startWorld, type World, type WorldOverrides } from '../../harness/world.ts';

const MANIFESTS = `apiVersion: v1
kind: ConfigMap
metadata: {name: nowhere}
data: {k: v}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: elsewhere, namespace: default}
data: {k: v}
---
apiVersion: v1
kind: Namespace
metadata: {name: tools}
`;

const folder = temporaryFolder();
let world: World;

beforeAll(async () => {
  world = await startWorld();
  world.fleet.commit({ 'cluster/maps.yaml': MANIFESTS });
});

afterAll(async () => {
  folder.remove();
  await world.close();
});

function within(namespace: string | undefined, allow?: readonly string[]): WorldOverrides {
  const limits = allow === undefined ? {} : { allow: { namespaces: allow, kinds: ['*'] } };
  return { waitSeconds: 0, sources: (fleet) => [{ ...fleet, namespace, ...limits }] };
}

test('a run creates them there, and the same files in another namespace are other objects', async () => {
  const planned = await world.plan(within('tools'));
  expect(planned.plan.batches.flatMap(({ changes }) => changes.map(({ resource }) => formatId(resource)))).toContain(
    'tools/ConfigMap/nowhere',
  );
  const first = await world.run(within('tools'));
  expect(first.problems).toEqual([]);
  const created = first.outcomes.filter(({ action }) => action === 'created').map(({ resource }) => formatId(resource));
  expect(created).toEqual(
    expect.arrayContaining(['Namespace/tools', 'default/ConfigMap/elsewhere', 'tools/ConfigMap/nowhere']),
  );
  const moved = await world.run({ ...within('default'), limits: { maxDeletes: 20, maxDeletesPercent: 100 } });
  const news = moved.outcomes.filter(({ action }) => action !== 'unchanged');
  expect(news.map(({ action, resource }) => `${action} ${formatId(resource)}`)).toEqual([
    'created default/ConfigMap/nowhere',
    'deleted tools/ConfigMap/nowhere',
  ]);
});

test('without a namespace of the source such an object is a problem, and nothing is deleted', async () => {
  const { problems, outcomes } = await world.run(within(undefined));
  expect(problems.map(formatProblem)).toEqual([
    'cluster/maps.yaml:3:1: error invalid-namespace: ConfigMap "nowhere" needs metadata.namespace: without it the object cannot be identified. Add it, or set `namespace` of the source in skep.yaml.',
  ]);
  expect(outcomes.filter(({ action }) => action === 'deleted')).toEqual([]);
});

test('a namespace that the source may not use is refused where the object is written', async () => {
  const { problems } = await world.plan(within('tools', ['default', '*-x', 'none']));
  expect(problems.map(({ code, place }) => [code, place?.line])).toContainEqual(['source-not-allowed', 3]);
});

test('`skep validate` takes it from the skep.yaml beside the manifests', async () => {
  mkdirSync(join(folder.path, 'fleet'));
  writeFileSync(join(folder.path, 'fleet/maps.yaml'), MANIFESTS);
  async function validated(source: object) {
    const sources = [{ name: 'fleet', repository: 'git@h:r', path: 'fleet', ...source }];
    writeFileSync(join(folder.path, 'skep.yaml'), JSON.stringify({ sources }));
    const folders = await findManifestFolders(folder.path, {});
    const { summary, problems } = await runValidation(
      { folders, schemas: [], apiGroup: 'toolhive.stacklok.dev' },
      undefined,
    );
    return [summary.valid, problems.map(({ code }) => code)];
  }
  expect(await validated({})).toEqual([2, ['invalid-namespace']]);
  expect(await validated({ namespace: 'tools' })).toEqual([3, []]);
});
