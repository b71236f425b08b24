// Tests the state of a resource, from all observations of a run: nothing that is broken or unknown counts as healthy.
// In one file, because nearly all cases change one part of the same run and the same resource.

import { expect, test } from 'vitest';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { fleetStateOf, type Looked, unknownState } from '#reconciler/run/fleet-state/fleet-state.ts';
import { openFleetWatch } from '#reconciler/run/fleet-state/fleet-watch.ts';
import type { EntryState, FleetState } from '#reconciler/run/fleet-state/format.ts';
import type { Health } from '#reconciler/run/resolve/resolve.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';

const CLOCK: KubeObject = {
  apiVersion: 'toolhive.stacklok.dev/v1beta1',
  kind: 'MCPServer',
  metadata: { name: 'clock', namespace: 'tools' },
  spec: { image: 'clock:1', transport: 'stdio' },
};
const ID = idOf(CLOCK);
const WORKLOAD = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: 'tools', name: 'clock' };
const PLACE = { file: 'clock.yaml', line: 4, column: 1 };

const NOTHING: RunResult = {
  ...{ id: 'run-1', commits: { fleet: '9c1d0c5ad19c1d' }, quarantined: [], waits: [], outcomes: [], problems: [] },
  ...{ startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z', fields: [], failures: [], warnings: [] },
  plan: { batches: [], held: [], unchanged: [], waiting: [], approved: [], within: [] },
  readiness: { ready: [], progressing: [], failed: [] },
  ...{ catalogue: [], timedOut: false, requests: 0 },
};

const READY: RunResult = { ...NOTHING, readiness: { ...NOTHING.readiness, ready: [ID] } };

interface Given {
  readonly result?: Partial<RunResult>;
  readonly health?: Health;
  /** Status of the live object; `null`: there is no such object. */
  readonly status?: JsonObject | null;
  readonly unlisted?: readonly string[];
  readonly declared?: KubeObject;
}

function lookedAt({ health = 'healthy', status = {}, unlisted = [], declared = CLOCK }: Given): Looked {
  const live = status === null ? undefined : { ...declared, status };
  const kind = KINDS.find((each) => each.kind === declared.kind);
  const loaded = { id: idOf(declared), object: declared, kind, source: 'fleet', place: () => PLACE };
  return {
    gathered: { loaded: [loaded], suspended: new Map() },
    resolved: { standings: [{ loaded, health, findings: [] }] },
    desires: { objects: [] },
    snapshot: {
      find: (id) => (live !== undefined && keyOf(id) === keyOf(loaded.id) ? live : undefined),
      known: ({ kind: name }) => !unlisted.includes(name),
      unlisted: () => new Set(unlisted),
    },
  };
}

const LOOK = { instance: 'test', apiGroup: 'toolhive.stacklok.dev', sources: ['fleet'], ours: true };

function stateOf(given: Given, before?: FleetState): FleetState {
  return fleetStateOf(LOOK, lookedAt(given), { ...READY, ...given.result }, before);
}

function update(owner = true): RunResult['plan'] {
  const change = {
    ...{
      action: 'update' as const,
      resource: WORKLOAD,
      key: keyOf(WORKLOAD),
      object: { ...WORKLOAD, metadata: WORKLOAD },
    },
    ...{ diff: [], ...(owner ? { owner: ID } : {}) },
  };
  return { ...NOTHING.plan, batches: [{ name: 'apply StatefulSet', changes: [change] }] };
}

const error = { code: 'cluster-forbidden', message: 'not allowed' };

const ROWS: readonly (Given & { readonly reason: string; readonly state: EntryState; readonly why: RegExp })[] = [
  { reason: 'it is ready', state: 'healthy', why: /ready, and as Git declares it/ },
  {
    reason: 'someone scaled it to zero',
    status: { conditions: [{ type: 'Ready', status: 'False', reason: 'ScaledToZero' }] },
    state: 'sleeping',
    why: /scaled it to zero/,
  },
  {
    reason: 'it is not ready yet',
    result: { readiness: { ...NOTHING.readiness, progressing: [{ ...ID, why: '1 of 2 pods are ready' }] } },
    state: 'progressing',
    why: /1 of 2 pods/,
  },
  {
    reason: 'it has failed',
    result: { readiness: { ...NOTHING.readiness, failed: [{ ...ID, why: 'no such image' }] } },
    state: 'failed',
    why: /no such image/,
  },
  {
    reason: 'a child of it could not be changed, although it is ready',
    result: { plan: update(), outcomes: [{ action: 'failed', resource: WORKLOAD, owner: ID, error }] },
    state: 'failed',
    why: /tools\/StatefulSet\/clock: not allowed/,
  },
  {
    reason: 'its manifest is invalid',
    health: 'held',
    result: {
      problems: [{ code: 'schema-enum', severity: 'error', message: 'transport is wrong', place: PLACE, resource: ID }],
    },
    state: 'kept',
    why: /^transport is wrong \(clock\.yaml:4\)$/,
  },
  {
    reason: 'something that it names is missing',
    health: 'refused',
    result: {
      problems: [
        { code: 'reference-missing', severity: 'error', message: 'no MCPGroup "x"', place: PLACE, resource: ID },
      ],
    },
    state: 'failed',
    why: /no MCPGroup "x"/,
  },
  {
    reason: 'its source waits for another one',
    result: { plan: { ...NOTHING.plan, held: [{ resource: WORKLOAD, owner: ID, reason: 'source fleet waits' }] } },
    state: 'kept',
    why: /^Source fleet waits$/,
  },
  {
    reason: 'a change is not made while the instance is suspended',
    result: { plan: update(), paused: { by: 'suspension', who: 'me', since: '', reason: 'a party' } },
    state: 'drifted',
    why: /StatefulSet\/clock is to be changed; the instance is suspended: a party/,
  },
  {
    reason: 'someone else keeps a field',
    result: {
      fields: [
        { resource: WORKLOAD, owner: ID, path: '/spec/replicas', pointer: '', manager: 'kubectl', state: 'kept' },
      ],
    },
    state: 'drifted',
    why: /kubectl has set \/spec\/replicas/,
  },
  {
    reason: 'its tools are other ones than reviewed',
    result: { readiness: { ...READY.readiness, drifted: [{ ...ID, why: 'search differs' }] } },
    state: 'drifted',
    why: /search differs/,
  },
  {
    reason: 'a server that has failed and differs is worse than one that differs',
    result: {
      readiness: { ...NOTHING.readiness, failed: [{ ...ID, why: 'no such image' }], drifted: [{ ...ID, why: 'x' }] },
    },
    state: 'failed',
    why: /no such image/,
  },
  { reason: 'servers could not be listed', unlisted: ['MCPServer'], state: 'unknown', why: /MCPServer/ },
  { reason: 'its children could not be listed', unlisted: ['StatefulSet'], state: 'unknown', why: /StatefulSet/ },
  { reason: 'nothing says how it is', result: NOTHING, status: {}, state: 'unknown', why: /no status yet/ },
  { reason: 'it is not there', result: NOTHING, status: null, state: 'unknown', why: /not in the cluster/ },
  {
    reason: 'nobody reports on its tools',
    status: { conditions: [{ type: 'ToolsLocked', status: 'Unknown', reason: 'DefinitionsNotReported' }] },
    state: 'unknown',
    why: /nobody reports/,
  },
];

test.each(ROWS)('$state if $reason', ({ reason: _reason, state, why, ...given }) => {
  const entry = stateOf(given).entries.find(({ name }) => name === 'clock');
  expect(entry).toMatchObject({ id: 'tools/MCPServer/clock', state });
  expect(entry?.why).toMatch(why);
});

test('a source that could not be read has failed, and one that is rolled back is kept', () => {
  const unread = stateOf({ result: { commits: {} } }).entries[0];
  expect(unread).toMatchObject({ id: 'Source/fleet', state: 'failed' });
  const pin = { source: 'fleet', good: '41be9e2f0741', bad: '77be9e2f0741', older: [] };
  expect(stateOf({ result: { quarantined: [pin] as never } }).entries[0]).toMatchObject({ state: 'kept' });
});

test('a state has its beginning from the first run that found it', () => {
  const first = stateOf({});
  const clockOf = ({ entries }: FleetState) => entries.find(({ name }) => name === 'clock');
  expect(clockOf(first)?.since).toEqual({ run: 'run-1', at: NOTHING.finishedAt, atLeast: true });
  const same = stateOf({ result: { id: 'run-2' } }, first);
  expect(clockOf(same)?.since.run).toBe('run-1');
  const other = stateOf(
    { result: { id: 'run-3', readiness: { ...NOTHING.readiness, failed: [{ ...ID, why: '' }] } } },
    same,
  );
  expect(clockOf(other)?.since).toEqual({ run: 'run-3', at: NOTHING.finishedAt });
});

test('nothing is known after a run that could do nothing', () => {
  const failed = { id: 'run-2', at: NOTHING.finishedAt, code: 'cluster-unreachable', message: 'no answer' };
  const { counts, entries, run } = unknownState(LOOK, failed, stateOf({}));
  expect(counts).toEqual({ unknown: 2 });
  expect(entries.map(({ why }) => why)).toEqual(Array(2).fill('The last run could not look at it: no answer'));
  expect(run?.failures).toEqual([{ code: 'cluster-unreachable', message: 'no answer' }]);
});

test('sources are unknown if the first run could do nothing', () => {
  const failed = { id: 'run-1', at: NOTHING.finishedAt, code: 'cluster-unreachable', message: 'no answer' };
  expect(unknownState(LOOK, failed, undefined).entries).toMatchObject([{ id: 'Source/fleet', state: 'unknown' }]);
});

test('a source does not get the failure of another source', () => {
  const failures = ['one', 'two'].map((name) => new Failure('git-unreachable', `${name} does not respond`));
  const whyOf = (some: readonly Failure[]) => stateOf({ result: { commits: {}, failures: some } }).entries[0]?.why;
  expect(whyOf(failures.slice(0, 1))).toBe('one does not respond');
  expect(whyOf(failures)).toBe('It could not be read: the failures of the run say why.');
});

const FAILURE = new Failure('run-deadline', 'the run took too long');

function watchAfter(result: RunResult) {
  const watch = openFleetWatch(LOOK);
  watch.looked(lookedAt({}) as never);
  watch.ended(result);
  return watch;
}

test('after a run that failed, a run that observes no change knows the fleet again', () => {
  const watch = watchAfter(READY);
  watch.failed(FAILURE, { id: 'run-2', at: '2026-01-01T00:01:00Z' });
  expect(watch.state().counts).toEqual({ unknown: 2 });
  watch.ended({ ...READY, id: 'run-3', finishedAt: '2026-01-01T00:02:00Z' });
  expect(watch.state()).toMatchObject({ run: { id: 'run-3', at: '2026-01-01T00:02:00Z' }, counts: { healthy: 2 } });
  expect(watch.state().run?.failures).toBeUndefined();
  expect(watch.state().entries[0]?.since).toEqual({ run: 'run-3', at: '2026-01-01T00:02:00Z' });
  watch.ended({ ...READY, id: 'run-4' });
  expect(watch.state().entries[0]?.since.run).toBe('run-3');
});

test('a failure after the result of the same run is added to it, and what it observed stays known', () => {
  const watch = watchAfter(READY);
  watch.failed(FAILURE, { id: READY.id, at: NOTHING.finishedAt });
  expect(watch.state()).toMatchObject({
    run: { id: READY.id, failures: [{ code: FAILURE.code, message: FAILURE.message }] },
    counts: { healthy: 2 },
  });
});

test.each([
  { kind: 'an MCPServer', id: { ...ID, name: 'old' }, role: 'server' },
  { kind: 'a ConfigMap', id: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'tools', name: 'old' }, role: 'other' },
])('$kind that no source declares any more has the role $role', ({ id, role }) => {
  const { apiVersion, kind, namespace, name } = id;
  const live: KubeObject = { apiVersion, kind, metadata: { namespace, name } };
  const looked = lookedAt({});
  const snapshot = { ...looked.snapshot, find: (one: typeof id) => (keyOf(one) === keyOf(id) ? live : undefined) };
  const plan = { ...NOTHING.plan, held: [{ resource: id, reason: 'its deletion waits for approval' }] };
  const { entries } = fleetStateOf(LOOK, { ...looked, snapshot } as Looked, { ...READY, plan }, undefined);
  expect(entries.find((entry) => entry.name === 'old')).toMatchObject({ role, state: 'kept' });
});
