// Tests when the key of digests is read, and the results without a key.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { Cluster } from '../ports.ts';
import { NO_DIGEST, openDigestKey, prepareWithDigests } from './digest-key.ts';

type Keeper = Pick<Cluster, 'get' | 'apply'>;

function keeper(get: Keeper['get']): Keeper & { readonly applied: KubeObject[]; readonly asked: () => number } {
  const applied: KubeObject[] = [];
  let asked = 0;
  return {
    applied,
    asked: () => asked,
    async get(id) {
      asked += 1;
      return get(id);
    },
    async apply(object) {
      applied.push(object);
      return object;
    },
  };
}

const NOBODY = async (): Promise<undefined> => undefined;
const both = (digest: (text: string) => string) => [digest('a'), digest('b'), digest('a')];

test('the key is read only if a digest is requested', async () => {
  const cluster = keeper(NOBODY);
  const key = openDigestKey(cluster, 'prod', 'skep');
  expect(await prepareWithDigests(key, 'sync', () => 'nothing')).toEqual({ made: 'nothing', unsealed: false });
  expect(cluster.asked()).toBe(0);
});

test('without a key, every content has the same digest, which is reported', async () => {
  const key = openDigestKey(keeper(NOBODY), 'prod', 'skep');
  expect(await prepareWithDigests(key, 'sync', both)).toEqual({
    made: [NO_DIGEST, NO_DIGEST, NO_DIGEST],
    unsealed: true,
  });
});

test('a created key is used at once, and is never read again', async () => {
  const cluster = keeper(NOBODY);
  const key = openDigestKey(cluster, 'prod', 'skep');
  await key.make((bytes) => new Uint8Array(bytes).fill(7));
  const { made, unsealed } = await prepareWithDigests(key, 'sync', both);
  expect(unsealed).toBe(false);
  expect(new Set(made).size).toBe(2);
  expect(cluster.asked()).toBe(0);
  expect(cluster.applied).toMatchObject([{ kind: 'Secret', metadata: { name: 'skep-prod', namespace: 'skep' } }]);
});

test('another process finds the created key, and computes the same digests', async () => {
  const first = keeper(NOBODY);
  const key = openDigestKey(first, 'prod', 'skep');
  await key.make((bytes) => new Uint8Array(bytes).fill(7));
  const other = openDigestKey(
    keeper(async () => first.applied[0]),
    'prod',
    'skep',
  );
  expect((await prepareWithDigests(other, 'sync', both)).made).toEqual(
    (await prepareWithDigests(key, 'sync', both)).made,
  );
});

test('an account that may not read the key can plan, but not run', async () => {
  const cluster = keeper(async () => {
    throw new Failure('cluster-forbidden', 'no');
  });
  const key = openDigestKey(cluster, 'prod', 'skep');
  expect((await prepareWithDigests(key, 'read', both)).unsealed).toBe(true);
  await expect(prepareWithDigests(key, 'sync', both)).rejects.toThrow(Failure);
});
