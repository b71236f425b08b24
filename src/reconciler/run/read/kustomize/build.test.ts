// Tests that results of builds are cached by content, and that a build that timed out is tried again later.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import type { KustomizeBuilder } from '../../ports.ts';
import { buildKustomization } from './build.ts';
import { treeOfCheckout } from './tree.ts';
import { traceKustomization } from './walk.ts';

const MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

/** Opens a reading that counts the builds. `answer` returns the result of a build. */
async function openReading(answer: () => string) {
  let builds = 0;
  const contents: Readonly<Record<string, string>> = { 'kustomization.yaml': 'resources: [a.yaml]', 'a.yaml': MAP };
  const tree = treeOfCheckout({
    commit: '0'.repeat(40),
    files: Object.keys(contents).map((path) => ({ path, oid: path })),
    skipped: [],
    read: async (oids) => new Map(oids.map((oid) => [oid, Buffer.from(contents[oid] ?? '')])),
  });
  const walk = await traceKustomization(tree, '');
  const cache = new Map<string, unknown>();
  let identity = 'first';
  const builder: KustomizeBuilder = {
    identity: async () => identity,
    async build() {
      builds += 1;
      return answer();
    },
  };
  return {
    builds: () => builds,
    replaceProgram: () => {
      identity = 'second';
    },
    read: () => buildKustomization(builder, tree, walk, cache),
  };
}

test('equal files are built once per program', async () => {
  const reading = await openReading(() => MAP);
  const first = await reading.read();
  expect([first.problems, first.files.map(({ path }) => path)]).toEqual([[], ['kustomization.yaml']]);
  expect([await reading.read(), reading.builds()]).toEqual([first, 1]);
  reading.replaceProgram();
  await reading.read();
  expect(reading.builds()).toBe(2);
});

test.each([
  ['kustomize-failed', 1],
  ['kustomize-too-costly', 2],
  ['kustomize-missing', 30],
])('after %s, thirty readings build %i times', async (code, builds) => {
  const reading = await openReading(() => {
    throw new Failure(code, 'no');
  });
  for (let round = 0; round < 30; round += 1) {
    const { files, problems } = await reading.read();
    expect([files, problems.map((problem) => problem.code)]).toEqual([[], [code]]);
  }
  expect(reading.builds()).toBe(builds);
});
