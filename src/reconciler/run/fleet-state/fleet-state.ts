// Computes the state of the fleet after a run. Each source, each declared resource, and each remaining object that is
// no longer declared has an entry.

import { groupOf, idOf, keyOf } from '#kubernetes/rules/object.ts';
import { compareTexts } from '#kubernetes/rules/ownership/element.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { Prepared } from '../prepare.ts';
import { ownerOf, sourceOf } from '../prune/may-delete.ts';
import type { RunResult } from '../result.ts';
import { openEdges, roleOf } from './edges.ts';
import { entryState, pausedText, runFacts, type StateWithReason } from './entry-state.ts';
import {
  ENTRY_ROLES,
  ENTRY_STATES,
  type EntryRole,
  type EntryState,
  type FleetEntry,
  type FleetState,
} from './format.ts';
import { sourceState } from './source-state.ts';

type NewEntry = Omit<FleetEntry, 'since'>;

export interface FleetLook {
  readonly instance: string;
  readonly apiGroup: string;
  readonly sources: readonly string[];
  readonly ours: boolean;
}

export interface Looked {
  readonly gathered: Pick<Prepared['gathered'], 'loaded' | 'suspended'>;
  readonly resolved: Pick<Prepared['resolved'], 'standings'>;
  readonly desires: Pick<Prepared['desires'], 'objects'>;
  readonly snapshot: Pick<Prepared['snapshot'], 'find' | 'known' | 'unlisted'>;
}

/**
 * Returns the state after a run. `prepared` and `result` belong to that run. `before` is the state after the previous
 * run.
 */
export function fleetStateOf(
  look: FleetLook,
  prepared: Looked,
  result: RunResult,
  before: FleetState | undefined,
): FleetState {
  const entries = [...sourceEntries(look, prepared, result), ...resourceEntries(look, prepared, result)];
  const { id, finishedAt: at, commits, paused, failures } = result;
  const named = failures.map(({ code, message }) => ({ code, message }));
  const run = {
    id,
    at,
    commits,
    ...(paused && { paused: pausedText(paused) }),
    ...(named.length === 0 ? {} : { failures: named }),
  };
  return stateWith(look.instance, run, entries, before);
}

/**
 * Returns the state after a run that failed before it observed the fleet: all entries get state `unknown`. If no
 * earlier state exists, the entries are the sources.
 */
export function unknownState(
  { instance, sources }: Pick<FleetLook, 'instance' | 'sources'>,
  failed: { readonly id: string; readonly at: string; readonly code: string; readonly message: string },
  before: FleetState | undefined,
): FleetState {
  const { id, at, code, message } = failed;
  const run = { id, at, commits: before?.run?.commits ?? {}, failures: [{ code, message }] };
  const known = before?.entries ?? sources.map((name) => sourceEntry(name, UNKNOWN));
  const entries = known.map((entry): NewEntry => {
    const { since: _since, ...rest } = { since: undefined, ...entry };
    return { ...rest, state: 'unknown', why: `The last run could not look at it: ${message}` };
  });
  return stateWith(instance, run, entries, before);
}

/**
 * Returns the state after a run that found no change. `observed` is the state after the last run that observed the
 * fleet.
 */
export function repeatedState(
  observed: FleetState,
  { id, finishedAt: at }: Pick<RunResult, 'id' | 'finishedAt'>,
  before: FleetState | undefined,
): FleetState {
  const { commits = {}, ...rest } = observed.run ?? {};
  const run = { ...rest, commits, id, at };
  return before === observed ? { ...observed, run } : stateWith(observed.instance, run, observed.entries, before);
}

/** Returns the state after a run that failed after it had observed the fleet. */
export function withFailure(
  state: FleetState,
  failure: { readonly code: string; readonly message: string },
): FleetState {
  const { run } = state;
  return run === undefined ? state : { ...state, run: { ...run, failures: [...(run.failures ?? []), failure] } };
}

function stateWith(
  instance: string,
  run: NonNullable<FleetState['run']>,
  entries: readonly NewEntry[],
  before: FleetState | undefined,
): FleetState {
  const known = new Map(before?.entries.map((entry) => [entry.id, entry]));
  const moment = { run: run.id, at: run.at, ...(before === undefined ? { atLeast: true as const } : {}) };
  const dated = entries.map((entry): FleetEntry => {
    const last = known.get(entry.id);
    return { ...entry, since: last !== undefined && last.state === entry.state ? last.since : moment };
  });
  return { version: 1, instance, run, counts: stateCounts(dated), entries: dated.toSorted(inOrder) };
}

function stateCounts(entries: readonly FleetEntry[]): FleetState['counts'] {
  const counts: Partial<Record<EntryState, number>> = {};
  for (const state of ENTRY_STATES) {
    const count = entries.filter((entry) => entry.state === state).length;
    if (count > 0) counts[state] = count;
  }
  return counts;
}

function inOrder(a: FleetEntry, b: FleetEntry): number {
  const roles = ENTRY_ROLES.indexOf(a.role) - ENTRY_ROLES.indexOf(b.role);
  return (
    roles ||
    compareTexts(a.namespace ?? '', b.namespace ?? '') ||
    compareTexts(a.kind, b.kind) ||
    compareTexts(a.name, b.name)
  );
}

function sourceEntries({ sources }: FleetLook, { gathered }: Looked, result: RunResult): readonly NewEntry[] {
  return sources.map((name) => sourceEntry(name, sourceState(name, result, gathered)));
}

const UNKNOWN: StateWithReason = { state: 'unknown', why: '' };

function sourceEntry(name: string, found: StateWithReason): NewEntry {
  return { id: `Source/${name}`, kind: 'Source', name, role: 'source', ...found, uses: [], objects: 0 };
}

function resourceEntries({ ours, apiGroup }: FleetLook, prepared: Looked, result: RunResult): readonly NewEntry[] {
  const { resolved, snapshot, desires } = prepared;
  const facts = runFacts(result, snapshot);
  const objects = countBy(desires.objects.flatMap(({ owner }) => (owner === undefined ? [] : [keyOf(owner)])));
  const declared = new Set(resolved.standings.map(({ loaded }) => keyOf(loaded.id)));
  const usesOf = openEdges(resolved.standings.map(({ loaded }) => loaded));
  const entries = resolved.standings.map((standing): NewEntry => {
    const { loaded } = standing;
    const { id, kind, source } = loaded;
    const live = snapshot.find(id);
    return {
      ...entryNames(id, kind === undefined ? 'other' : roleOf(id.kind)),
      ...entryState(facts, { ...standing, live }, snapshot, ours),
      source,
      uses: usesOf(loaded),
      objects: objects.get(keyOf(id)) ?? 0,
    };
  });
  return [...entries, ...strays(apiGroup, result, prepared, declared)];
}

/**
 * Returns entries for objects that are no longer declared and are not deleted. Children of other objects have no entry.
 */
function strays(
  apiGroup: string,
  { plan }: RunResult,
  { snapshot, gathered }: Looked,
  declared: ReadonlySet<string>,
): readonly NewEntry[] {
  const sources = new Set(gathered.loaded.map(({ source }) => source));
  return plan.held.flatMap(({ resource, owner, reason }): readonly NewEntry[] => {
    const live = snapshot.find(resource);
    if (owner !== undefined || declared.has(keyOf(resource)) || live === undefined || ownerOf(live) !== undefined)
      return [];
    const source = sourceOf(live);
    return [
      {
        ...entryNames(idOf(live), groupOf(resource.apiVersion) === apiGroup ? roleOf(resource.kind) : 'other'),
        state: 'kept',
        why: `No source declares it any more; kept because ${reason}`,
        ...(sources.has(source) ? { source } : {}),
        uses: [],
        objects: 0,
      },
    ];
  });
}

function entryNames(id: ResourceId, role: EntryRole): Pick<FleetEntry, 'id' | 'kind' | 'namespace' | 'name' | 'role'> {
  const { kind, namespace, name } = id;
  return { id: formatId(id), kind, ...(namespace === undefined ? {} : { namespace }), name, role };
}

function countBy(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
