// Combines the sync states of all sources of an MCPRegistry into one status.

import type { CatalogueState, SourceState } from '#contracts/catalogue-state.ts';
import { digest } from '#std/hash.ts';
import { isObject, jsonEquals } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { countText } from '#std/words/count-text.ts';
import type { Observed } from '../kind.ts';
import type { EffectiveRegistry } from './facts.ts';
import type { MCPRegistryStatus } from './schema.ts';

type Status = Static<typeof MCPRegistryStatus>;
export type SyncStatus = NonNullable<Status['syncStatus']>;
type SyncPart = Pick<Status, 'syncStatus' | 'lastAppliedFilterHash' | 'lastManualSyncTrigger'>;

interface SourceSync {
  readonly name: string;
  /** undefined if the source was never synced. */
  readonly state: SourceState | undefined;
}

/**
 * Returns a status from the sync states in the store. If the states were not read, returns the previous status, with
 * the reason if the store failed.
 */
export function syncPart(
  { spec, resource }: EffectiveRegistry,
  { catalogue, storeFailure }: Pick<Observed, 'catalogue' | 'storeFailure'>,
): SyncPart {
  const before = resource.status ?? {};
  if (catalogue === undefined) {
    const kept = keptPart(before);
    if (storeFailure === undefined) return kept;
    return { ...kept, syncStatus: { ...kept.syncStatus, phase: 'Failed', message: storeFailure } };
  }
  // Running servers are stored in each run, not by a sync.
  const synced = spec.registries.filter(({ running }) => running === undefined);
  const sources = synced.map(({ name }) => ({ name, state: catalogue[name] }));
  const filterHash = combined(sources, ({ filterHash }) => filterHash);
  const trigger = commonTrigger(catalogue) ?? before.lastManualSyncTrigger;
  return {
    syncStatus: steady(before.syncStatus, overall(sources)),
    lastAppliedFilterHash: filterHash,
    lastManualSyncTrigger: typeof trigger === 'string' ? trigger : undefined,
  };
}

function keptPart(before: object): SyncPart {
  const kept: SyncPart = {};
  if ('syncStatus' in before && isObject(before.syncStatus)) Object.assign(kept, { syncStatus: before.syncStatus });
  for (const field of ['lastAppliedFilterHash', 'lastManualSyncTrigger'] as const) {
    const value: unknown = Reflect.get(before, field);
    if (typeof value === 'string') kept[field] = value;
  }
  return kept;
}

/** Maximum age of the times in a status that is otherwise unchanged. */
const TIMES_MAY_LAG_MS = 5 * 60_000;

/** Returns the previous status if only its times differ and they are recent, so that most runs write no status. */
function steady(before: unknown, after: SyncStatus): SyncStatus {
  if (!isObject(before) || typeof before.lastAttempt !== 'string' || after.lastAttempt === undefined) return after;
  const { lastAttempt, lastSyncTime } = before;
  if (Date.parse(after.lastAttempt) - Date.parse(lastAttempt) >= TIMES_MAY_LAG_MS) return after;
  const kept = {
    ...after,
    lastAttempt,
    lastSyncTime: typeof lastSyncTime === 'string' ? lastSyncTime : after.lastSyncTime,
  };
  return jsonEquals(kept, before) ? kept : after;
}

function overall(sources: readonly SourceSync[]): SyncStatus {
  const states = sources.flatMap(({ state }) => (state === undefined ? [] : [state]));
  const { phase, message } = summary(sources);
  const lastAttempt = latest(states.map((state) => state.lastAttempt));
  const lastSyncTime = latest(states.map((state) => state.lastSyncTime));
  const lastSyncHash = combined(sources, (state) => state.lastSyncHash);
  return {
    phase,
    message,
    lastAttempt,
    attemptCount: Math.max(0, ...states.map((state) => state.attemptCount)),
    lastSyncTime,
    lastSyncHash,
    serverCount: states.reduce((sum, state) => sum + state.serverCount, 0),
  };
}

/** Returns the phase Failed if a source failed, Syncing if a source is not complete, and Complete otherwise. */
function summary(sources: readonly SourceSync[]): Pick<SyncStatus, 'phase'> & { readonly message: string } {
  const failed = sources.filter(({ state }) => state?.phase === 'Failed');
  if (failed.length > 0) {
    return { phase: 'Failed', message: failed.map(({ name, state }) => `${name}: ${state?.message}`).join('; ') };
  }
  const waiting = sources.filter(({ state }) => state?.lastSyncTime === undefined).map(({ name }) => name);
  if (waiting.length > 0) return { phase: 'Syncing', message: `not synced yet: ${waiting.join(', ')}` };
  const running = sources.filter(({ state }) => state?.phase === 'Syncing').map(({ name }) => name);
  if (running.length > 0) return { phase: 'Syncing', message: `syncing: ${running.join(', ')}` };
  const rejected = sources.filter(({ state }) => (state?.rejectedCount ?? 0) > 0);
  const complaint = [
    ...rejected.map(
      ({ name, state }) =>
        `; ${name}: ${countText(state?.rejectedCount ?? 0, 'invalid entry', 'invalid entries')} left out`,
    ),
    ...sources.flatMap(({ name, state }) => (state?.emptySince === undefined ? [] : `; ${name}: ${state.message}`)),
  ];
  return { phase: 'Complete', message: `synced: ${sources.map(({ name }) => name).join(', ')}${complaint.join('')}` };
}

/** Returns the hash of a single source, or one hash of all hashes. */
function combined(
  sources: readonly SourceSync[],
  pick: (state: SourceState) => string | undefined,
): string | undefined {
  const hashes = sources.flatMap(({ name, state }) => {
    const hash = state === undefined ? undefined : pick(state);
    return hash === undefined ? [] : [[name, hash] as const];
  });
  const [only, ...more] = hashes;
  return more.length === 0 ? only?.[1] : digest(Object.fromEntries(hashes));
}

/** Returns the trigger if all sources have carried out the same trigger. */
function commonTrigger(catalogue: CatalogueState): string | undefined {
  const [first, ...more] = Object.values(catalogue).map(({ trigger }) => trigger);
  return more.every((trigger) => trigger === first) ? first : undefined;
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.sort((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
}
