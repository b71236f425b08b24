// Tests that both stores of the authorization server behave alike, and that the Redis store survives a failover and
// supports TLS.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IssuerStoreSettings, openRedisIssuerStore, type RedisIssuerStore } from '#adapters/redis/issuer-store.ts';
import { createMemoryStore } from '#gateway/issuer/memory-store.ts';
import type { IssuerStore } from '#gateway/issuer/ports.ts';
import { Failure } from '#std/failure.ts';
import { CLUSTER_PASSWORD, startCluster } from '../../harness/redis-cluster.ts';
import { ADMIN, MASTER_NAME, REDIS_USER, type SentinelWorld, startSentinel } from '../../harness/redis-sentinel.ts';

const PREFIX = 'thv:auth:{tests:weather}:';
const DAY_MS = 86_400_000;

function addressOf(text: string) {
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}

function settingsFor(
  { sentinel }: Pick<SentinelWorld, 'sentinel'>,
  more: Partial<IssuerStoreSettings> = {},
): IssuerStoreSettings {
  return {
    place: { kind: 'sentinels', masterName: MASTER_NAME, sentinels: [addressOf(sentinel)], db: 0 },
    user: () => REDIS_USER,
    keyPrefix: PREFIX,
    connectMs: 5000,
    commandMs: 6000,
    ...more,
  };
}

const plain = await startSentinel();
const cluster = await startCluster();
const opened: RedisIssuerStore[] = [];
function openStore(world: Pick<SentinelWorld, 'sentinel'>, more: Partial<IssuerStoreSettings> = {}): RedisIssuerStore {
  const store = openRedisIssuerStore(settingsFor(world, more), () => undefined);
  opened.push(store);
  return store;
}
afterAll(async () => {
  for (const store of opened) store.close();
  await Promise.all([plain?.stop(), cluster?.stop()]);
});

let now = 0;
const KINDS: readonly (readonly [string, () => readonly [IssuerStore, IssuerStore]])[] = [
  [
    'memory',
    () => {
      const store = createMemoryStore({ monotonic: () => now });
      return [store, store];
    },
  ],
  ...(plain === undefined
    ? []
    : ([
        ['Redis, of two replicas', (): readonly [IssuerStore, IssuerStore] => [openStore(plain), openStore(plain)]],
        ['one Redis, as the default user and as another', () => oneServer(plain)],
      ] as const)),
  ...(cluster === undefined ? [] : ([['a Redis Cluster', () => inCluster(cluster)]] as const)),
];

function oneServer({ master, sentinel }: SentinelWorld): readonly [IssuerStore, IssuerStore] {
  const place = { kind: 'server', address: addressOf(master) } as const;
  return [openStore({ sentinel }, { place }), openStore({ sentinel }, { place, user: () => ({ password: ADMIN }) })];
}

function inCluster({ address }: { readonly address: string }): readonly [IssuerStore, IssuerStore] {
  const settings = {
    place: { kind: 'cluster', address: addressOf(address) },
    user: () => ({ password: CLUSTER_PASSWORD }),
  } as const;
  return [openStore({ sentinel: '' }, settings), openStore({ sentinel: '' }, settings)];
}

describe.each(KINDS)('in %s', (_name, open) => {
  let first: IssuerStore;
  let second: IssuerStore;
  beforeAll(async () => {
    [first, second] = open();
    // Two of the stores share a Redis server.
    await first.delete(['lock:a']);
  });

  it('a value can be read by all replicas until it is deleted', async () => {
    await first.set('client:a', '{"name":"ä"}', DAY_MS);
    expect(await second.get('client:a')).toBe('{"name":"ä"}');
    await second.delete(['client:a', 'client:none']);
    expect(await first.get('client:a')).toBeUndefined();
    await first.delete([]);
  });

  it('only one of many parallel takes gets the value', async () => {
    await first.set('pending:a', 'value', DAY_MS);
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second).take('pending:a')),
    );
    expect(taken.filter((value) => value === 'value').length).toBe(1);
  });

  it('only one of many parallel adds succeeds', async () => {
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second).add('lock:a', String(index), DAY_MS)),
    );
    expect(added.filter((done) => done).length).toBe(1);
  });

  it('only one of many parallel replacements succeeds, and a replacement does not create a value', async () => {
    await first.set('authcode:a', 'fresh', DAY_MS);
    const replaced = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? first : second).replace('authcode:a', 'fresh', 'used', DAY_MS),
      ),
    );
    expect(replaced.filter((done) => done).length).toBe(1);
    expect(await second.replace('authcode:none', 'fresh', 'used', DAY_MS)).toBe(false);
    expect(await second.get('authcode:none')).toBeUndefined();
  });

  it('an expired value is deleted', async () => {
    await first.set('pending:short', 'value', 5);
    now += 10;
    await expect.poll(() => first.get('pending:short')).toBeUndefined();
  });
});

it('in memory, values that any request can create do not displace values of logins', async () => {
  const store = createMemoryStore({ monotonic: () => 0 });
  await store.set('client:known', 'value', DAY_MS);
  for (let index = 0; index < 30_000; index += 1) await store.set(`newclient:${index}`, 'value', DAY_MS);
  expect(await store.get('client:known')).toBe('value');
  expect(await store.get('newclient:0')).toBeUndefined();
  expect(await store.get('newclient:29999')).toBe('value');
});

it.skipIf(plain === undefined)('uses the last Redis user if the new one cannot be read', async () => {
  const world = plain as SentinelWorld;
  const lost: string[] = [];
  let asked = 0;
  const user = () => {
    asked += 1;
    if (asked === 1) return REDIS_USER;
    throw new Failure('issuer-config-invalid', 'the Secret has no password');
  };
  const settings = settingsFor(world, { place: { kind: 'server', address: addressOf(world.master) }, user });
  const store = openRedisIssuerStore(settings, (message) => lost.push(message));
  opened.push(store);
  await store.set('client:lost', 'value', DAY_MS);
  await world.dropClients();
  await expect.poll(() => store.get('client:lost').catch(() => 'away')).toBe('value');
  expect(lost).toContainEqual(expect.stringContaining('the Secret has no password'));
});

describe.skipIf(plain === undefined)('Redis behind a Sentinel', () => {
  it('returns a retryable failure with the name of the master while the password is wrong', async () => {
    const world = plain as SentinelWorld;
    const store = openStore(world, { user: () => ({ ...REDIS_USER, password: 'wrong' }), commandMs: 700 });
    await expect(store.get('client:a')).rejects.toMatchObject({ code: 'redis-unreachable', retryable: true });
  });

  it('stores all keys with the prefix, in one slot', async () => {
    const world = plain as SentinelWorld;
    await openStore(world).set('client:slot', 'value', DAY_MS);
    const keys = await world.keys();
    expect(keys).toContain(`${PREFIX}client:slot`);
    expect(keys.filter((key) => !key.startsWith('thv:auth:{tests:weather}:'))).toEqual([]);
  });

  it('keeps its values after a failover, and uses the current password', async () => {
    const world = plain as SentinelWorld;
    let asked = 0;
    const store = openStore(world, {
      user: () => {
        asked += 1;
        return REDIS_USER;
      },
    });
    await store.set('client:kept', 'value', DAY_MS);
    const before = asked;
    await world.failOver();
    await expect.poll(() => store.get('client:kept').catch(() => 'away')).toBe('value');
    expect(await store.replace('client:kept', 'value', 'other', DAY_MS)).toBe(true);
    expect(asked).toBeGreaterThan(before);
  });
});

it.skipIf(plain === undefined)(
  'returns a retryable failure in time if the server is not a node of a cluster',
  async () => {
    const world = plain as SentinelWorld;
    const place = { kind: 'cluster', address: addressOf(world.sentinel) } as const;
    const store = openStore(world, { place, commandMs: 300 });
    await expect(store.get('client:a')).rejects.toMatchObject({ code: 'redis-unreachable', retryable: true });
  },
);

it.skipIf(cluster === undefined)('deletes keys of several slots of a cluster', async () => {
  const address = addressOf(cluster?.address ?? '');
  const user = () => ({ password: CLUSTER_PASSWORD });
  const store = openStore({ sentinel: '' }, { place: { kind: 'cluster', address }, user, keyPrefix: 'plain:' });
  const keys = ['a', 'b', 'c', 'd'];
  for (const key of keys) await store.set(key, 'value', DAY_MS);
  await store.delete(keys);
  expect(await Promise.all(keys.map((key) => store.get(key)))).toEqual(keys.map(() => undefined));
});

describe.each([
  { servers: true, sentinel: true },
  { servers: true, sentinel: false },
  { servers: false, sentinel: true },
])('with TLS to %o', (tls) => {
  it('connects only to servers with a trusted certificate', async ({ skip }) => {
    const world = await startSentinel(tls);
    if (world === undefined) return skip();
    const { readFileSync } = await import('node:fs');
    const trusted = { ca: readFileSync(world.caFile, 'utf8'), skipVerify: false };
    const ofBoth = (settings: IssuerStoreSettings['tls']) => ({
      ...(tls.servers ? { tls: settings } : {}),
      ...(tls.sentinel ? { sentinelTls: settings } : {}),
    });
    await openStore(world, ofBoth(trusted)).set('client:a', 'value', DAY_MS);
    expect(await openStore(world, ofBoth({ skipVerify: true })).get('client:a')).toBe('value');
    const unknown = openStore(world, { ...ofBoth({ skipVerify: false }), commandMs: 700 });
    await expect(unknown.get('client:a')).rejects.toMatchObject({ code: 'redis-unreachable' });
    const bare = openStore(world, { commandMs: 700 });
    await expect(bare.get('client:a')).rejects.toMatchObject({ code: 'redis-unreachable' });
    for (const store of opened.splice(-4)) store.close();
    await world.stop();
  });
});
