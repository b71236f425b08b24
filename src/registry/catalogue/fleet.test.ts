import { expect, test } from 'vitest';
import type { ListedServer } from '#contracts/running-servers.ts';
import { Failure } from '#std/failure.ts';
import { type FleetRegistry, storeFleet } from './fleet.ts';
import type { Claim } from './ports.ts';

const KEY = { namespace: 'tools', registry: 'catalogue', source: 'fleet' };
const NONE = { include: [], exclude: [] };
const SERVER: ListedServer = {
  ...{
    namespace: 'tools',
    name: 'wiki',
    url: 'http://wiki/mcp',
    transport: 'streamable-http',
    ready: true,
    auth: 'none',
  },
  listing: { kind: 'MCPServer' },
};

test('releases the claim if the database refuses the entries, so that the next run can claim the source', async () => {
  let released = 0;
  const claim: Partial<Claim> = {
    state: { phase: 'Failed', message: '', attemptCount: 0, serverCount: 0, rejectedCount: 0 },
    replace: () => Promise.reject(new Failure('database-unreachable', 'the database does not answer')),
    release: async () => {
      released += 1;
    },
  };
  const registry: FleetRegistry = {
    key: KEY,
    source: {
      ...{ name: 'fleet', format: 'upstream', filter: { names: NONE, tags: NONE } },
      origin: { type: 'fleet', namespaces: ['tools'] },
    },
    writer: { claim: async () => claim as Claim } as unknown as FleetRegistry['writer'],
    state: undefined,
  };
  await expect(storeFleet(registry, [SERVER], () => 0)).rejects.toMatchObject({ code: 'database-unreachable' });
  expect(released).toBe(1);
});
