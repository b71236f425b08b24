// A console in a real browser, with a fleet of a given size behind it.

import type { Fleet, FleetEvent } from '#reconciler/control/ports.ts';
import { jsonOfFleet } from '#reconciler/report/fleet.ts';
import type { EntryRole, EntryState, FleetEntry, FleetState } from '#reconciler/run/fleet-state/format.ts';

export const RUN = '0b6e2f6c-7f1e-4b86-9d0e-000000000002';
const AT = new Date(Date.now() - 40_000).toISOString();
const EARLIER = new Date(Date.now() - 5 * 3600_000).toISOString();

type Given = Partial<FleetEntry> & Pick<FleetEntry, 'name'>;

export function entryOf(role: EntryRole, kind: string, { name, ...given }: Given): FleetEntry {
  const { namespace } = given;
  const state: EntryState = given.state ?? 'healthy';
  const id = namespace === undefined ? `${kind}/${name}` : `${namespace}/${kind}/${name}`;
  return {
    ...{ id, kind, name, role, state, why: 'It is ready, and as Git declares it.' },
    ...(role === 'source' ? {} : { source: 'fleet' }),
    ...{ since: { run: RUN, at: state === 'healthy' ? EARLIER : AT }, uses: [], objects: 0 },
    ...given,
  };
}

export function stateOf(entries: readonly FleetEntry[]): FleetState {
  const counts: Partial<Record<EntryState, number>> = {};
  for (const { state } of entries) counts[state] = (counts[state] ?? 0) + 1;
  const run = { id: RUN, at: AT, commits: { fleet: '9c1d0c5ad19c1d0c5ad19c1d0c5ad19c1d0c5ad1' } };
  return { version: 1, instance: 'prod', run, counts, entries };
}

/** `servers` in groups of 25, and all that they belong to. */
export function largeFleet(servers: number): FleetState {
  const groups = Math.ceil(servers / 25);
  const namespaceOf = (group: number) => `team-${String(group % 8).padStart(2, '0')}`;
  const entries: FleetEntry[] = [entryOf('source', 'Source', { name: 'fleet' })];
  for (let group = 0; group < groups; group += 1) {
    const namespace = namespaceOf(group);
    entries.push(entryOf('group', 'MCPGroup', { name: `group-${group}`, namespace }));
    if (group % 5 === 0) {
      const uses = [`${namespace}/MCPGroup/group-${group}`];
      entries.push(
        entryOf('virtual-server', 'VirtualMCPServer', { name: `desk-${group}`, namespace, uses, objects: 6 }),
      );
    }
  }
  for (let index = 0; index < servers; index += 1) {
    const group = Math.floor(index / 25);
    const namespace = namespaceOf(group);
    const state = index % 97 === 3 ? 'failed' : index % 61 === 7 ? 'progressing' : 'healthy';
    const why =
      state === 'failed' ? 'pod server-0: ImagePullBackOff: no such image' : 'It is ready, and as Git declares it.';
    const uses = [`${namespace}/MCPGroup/group-${group}`];
    entries.push(entryOf('server', 'MCPServer', { name: `server-${index}`, namespace, state, why, uses, objects: 7 }));
  }
  entries.push(entryOf('registry', 'MCPRegistry', { name: 'catalogue', namespace: 'team-00' }));
  return stateOf(entries);
}

export interface FakeFleet extends Fleet {
  put(state: FleetState): void;
  tell(event: FleetEvent): void;
  /** JSON of resources by id. */
  readonly resources: Map<string, string>;
  following(): number;
}

export function fakeFleet(first: FleetState): FakeFleet {
  let text = jsonOfFleet(first);
  let tag = 0;
  const followers = new Set<(event: FleetEvent) => void>();
  const resources = new Map<string, string>();
  return {
    resources,
    state: () => ({ text, tag: String(tag) }),
    resource: async (id) => resources.get(id),
    logs: async (id) => resources.get(`${id} logs`),
    readings: async (id) => resources.get(`${id} readings`),
    follow(notify) {
      followers.add(notify);
      return () => void followers.delete(notify);
    },
    put(state) {
      text = jsonOfFleet(state);
      tag += 1;
    },
    tell(event) {
      for (const each of followers) each(event);
    },
    following: () => followers.size,
  };
}
