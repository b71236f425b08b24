// Kustomizations of a source in runs: places of problems, refusals that delete nothing, and a rest of the fleet that goes on.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createKustomize } from '#adapters/kustomize/build.ts';
import type { KustomizeBuilder } from '#reconciler/run/ports.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { formatId, formatProblem } from '#std/problem.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { hasKustomize } from '../../harness/kustomize.ts';
import { startWorld, type World, type WorldOverrides } from '../../harness/world.ts';

const folder = temporaryFolder();
let world: World;
let builds = 0;

const here = builderOf(process.env.PATH ?? '');

function builderOf(searchPath: string): KustomizeBuilder {
  const builder = createKustomize({ searchPath, temporary: join(folder.path, 'builds'), now: Date.now });
  return {
    ...builder,
    build(...args) {
      builds += 1;
      return builder.build(...args);
    },
  };
}

beforeAll(async () => {
  world = await startWorld();
  mkdirSync(join(folder.path, 'builds'));
});

afterAll(async () => {
  folder.remove();
  await world.close();
});

const FILES = {
  'cluster/plain.yaml': map('plain'),
  'cluster/apps/kustomization.yaml': `resources:
  - maps.yaml
  - ../../base
patches:
  - path: patch.yaml
  - target: {kind: MCPServer}
    patch: |
      - op: replace
        path: /spec/transport
        value: stdio
namespace: tools
`,
  'cluster/apps/maps.yaml': `${map('one')}---\n${map('two')}`,
  'cluster/apps/patch.yaml': `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: clock}
spec:
  replicas: 2
`,
  'base/kustomization.yaml': 'resources: [namespace.yaml, clock.yaml]\n',
  'base/namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: tools}\n',
  'base/clock.yaml': `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata:
  name: clock
spec:
  image: images.example.com/clock:1
  transport: stdio
`,
};

beforeEach(async () => {
  world.fleet.commit(FILES);
  if (hasKustomize) await run();
});

function map(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: tools\ndata:\n  k: v\n`;
}

function options(kustomize: KustomizeBuilder): WorldOverrides {
  const limits = { maxDeletes: 20, maxDeletesPercent: 100 };
  return { waitSeconds: 0, limits, sources: (fleet) => [{ ...fleet, kustomize }] };
}

function run(kustomize = here): Promise<RunResult> {
  return world.run(options(kustomize));
}

function changed({ outcomes }: RunResult): string[] {
  return outcomes
    .filter(({ action }) => action !== 'unchanged')
    .map(({ action, resource }) => `${action} ${formatId(resource)}`);
}

test.skipIf(!hasKustomize)(
  'one commit is built once, and an object that is not named any more is deleted',
  async () => {
    builds = 0;
    expect([changed(await run()), builds]).toEqual([[], 0]);
    world.fleet.commit({ 'cluster/apps/maps.yaml': map('two') });
    expect([changed(await run()), builds]).toEqual([['deleted tools/ConfigMap/one'], 1]);
    expect([changed(await run()), builds]).toEqual([[], 1]);
  },
);

test.skipIf(!hasKustomize).each([
  ['base/clock.yaml', 'images.example.com/clock:1', '[]', 'base/clock.yaml:6:10'],
  ['base/clock.yaml', 'spec:\n', 'spec:\n  colour: blue\n', 'base/clock.yaml:6:3'],
  ['base/clock.yaml', 'name: clock\n', 'name: clock\n  labels: {a: "?"}\n', 'base/clock.yaml:5:15'],
  ['cluster/apps/patch.yaml', 'replicas: 2', 'replicas: many', 'cluster/apps/patch.yaml:5:13'],
  ['cluster/apps/patch.yaml', 'replicas: 2', 'proxyPort: 99999', 'cluster/apps/patch.yaml:5:14'],
  ['cluster/apps/kustomization.yaml', 'value: stdio', 'value: carrier', 'cluster/apps/kustomization.yaml:7:12'],
  ['cluster/apps/kustomization.yaml', 'namespace: tools', 'namespace: Tools', 'cluster/apps/kustomization.yaml:11:12'],
  [
    'cluster/apps/maps.yaml',
    'name: two\n  namespace: tools\ndata:\n  k: v',
    'name: two\n  namespace: tools\ndata:\n  k: 7',
    'cluster/apps/maps.yaml:15:6',
  ],
  [
    'cluster/apps/kustomization.yaml',
    'namespace: tools',
    'namespace: tools\nconfigMapGenerator:\n  - name: made\n    options: {labels: {a: "?"}}',
    'cluster/apps/kustomization.yaml:13:5: error',
  ],
])('a mistake in %s (%s) has its place', async (path, before, after, place) => {
  world.fleet.commit({ [path]: FILES[path as keyof typeof FILES].replace(before, after) });
  const { problems } = await run();
  expect(problems.map(formatProblem)).toContainEqual(expect.stringContaining(place));
});

test.skipIf(!hasKustomize).each([
  [
    'a remote base',
    'resources: [https://example.com/x.yaml]',
    'cluster/apps/kustomization.yaml:1:13: error kustomization-outside',
  ],
  [
    'a file outside',
    'configMapGenerator: [{name: a, files: [../../../etc/passwd]}]',
    'cluster/apps/kustomization.yaml:1:40: error kustomization-outside',
  ],
  ['a chart', 'helmCharts: []', 'cluster/apps/kustomization.yaml:1:1: error kustomization-refused'],
  ['a missing file', 'resources: [nothing.yaml]', 'cluster/apps/kustomization.yaml:1:13: error kustomization-path'],
  [
    'what kustomize refuses',
    'resources: [maps.yaml, ./maps.yaml]',
    'cluster/apps/kustomization.yaml:1:1: error kustomize-failed',
  ],
  ['a bomb', 'resources: [bomb.yaml]', /^cluster\/apps\/bomb\.yaml:\d+:\d+: error yaml-alias-bomb/],
  ['something encrypted', 'resources: [sealed.yaml]', 'cluster/apps/sealed.yaml:1:1: error kustomization-sealed'],
])('%s is refused, nothing of the source is deleted, and the rest goes on', async (_what, text, expected) => {
  const anchors = Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(12)}]`);
  world.fleet.commit({
    'cluster/apps/kustomization.yaml': text,
    'cluster/apps/bomb.yaml': `a0: &a0 [${'x,'.repeat(12)}]\n${anchors.join('\n')}\n`,
    'cluster/apps/sealed.yaml': 'k: ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]\n',
    'cluster/plain.yaml': map('plain').replace('k: v', 'k: other'),
  });
  const result = await run();
  expect(result.problems.map(formatProblem)).toEqual([expect.stringMatching(expected)]);
  expect(changed(result)).toEqual(['configured tools/ConfigMap/plain']);
});

test('without kustomize the message says so, nothing of the source is deleted, and the rest goes on', async () => {
  world.fleet.commit({ 'cluster/plain.yaml': map('other').replaceAll('tools', 'default') });
  const result = await run(builderOf(folder.path));
  expect(result.problems.map(formatProblem)).toEqual([
    'cluster/apps/kustomization.yaml:1:1: error kustomize-missing: Kustomizations are built by kustomize, and the PATH has neither "kustomize" nor "kubectl": install one of them on the machine that runs skep.',
  ]);
  expect(changed(result)).toEqual(['created default/ConfigMap/other']);
  if (hasKustomize) expect(changed(await run())).toContain('deleted tools/ConfigMap/plain');
});
