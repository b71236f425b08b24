// Determines which sources wait for other sources (`dependsOn`), and why. A source is changed only after all sources in
// its `dependsOn` are applied and ready.

import assert from 'node:assert/strict';
import { keyOf, type ObjectMeta } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import { type Compared, isToBeWritten } from '../diff/compared.ts';
import { labelValue } from '../labels.ts';
import { liveStateOf } from '../observe/live-state.ts';
import { groupKindOf, type Snapshot } from '../observe/snapshot.ts';
import type { Faults, ResourceFault } from '../prune/faults.ts';
import { sourceOf } from '../prune/may-delete.ts';
import type { FleetSource, Gathered } from '../read/gather.ts';
import type { Sourced } from '../read/sourced.ts';
import { notReady, stateOf } from '../settle/readiness.ts';

export interface Wait {
  readonly source: string;
  /** Source that must be applied and ready first. */
  readonly for: string;
  /** Reason why that source is not applied and ready, as a clause after a colon. */
  readonly reason: string;
  /** True if the wait can end without an action of a person. */
  readonly passes: boolean;
}

/** Waits by value of the source label. */
export type Waits = ReadonlyMap<string, Wait>;

export const NO_WAITS: Waits = new Map();

export interface WaitsInput {
  readonly sources: readonly Pick<FleetSource, 'name' | 'dependsOn'>[];
  readonly gathered: Pick<Gathered, 'loaded' | 'commits' | 'suspended'>;
  readonly faults: Faults;
  readonly compared: readonly Compared[];
  readonly snapshot: Pick<Snapshot, 'find' | 'known' | 'served'>;
  /** Resources to leave alone, by key. */
  readonly leftAlone: { has(key: string): boolean };
  readonly ownStatuses: boolean;
}

type Obstacle = Pick<Wait, 'reason' | 'passes'>;

/** Returns the waiting sources. `dependsOn` must have no cycle and no unknown name. */
export function waitsOf(input: WaitsInput): Waits {
  const byName = new Map(input.sources.map((source) => [source.name, source]));
  const known = new Map<string, Wait | undefined>();
  function waitOf({ name, dependsOn = [] }: WaitsInput['sources'][number]): Wait | undefined {
    if (known.has(name)) return known.get(name);
    const waits = dependsOn.flatMap((each): Wait[] => {
      const needed = byName.get(each);
      assert(needed !== undefined, 'the configuration checks the names of dependsOn');
      const own = waitOf(needed);
      const obstacle =
        own === undefined
          ? obstacleOf(input, needed.name)
          : { reason: `that one waits for source ${own.for}`, passes: own.passes };
      return obstacle === undefined ? [] : [{ source: name, for: each, ...obstacle }];
    });
    // An obstacle that only a person can remove is reported first.
    const wait = waits.find(({ passes }) => !passes) ?? waits[0];
    known.set(name, wait);
    return wait;
  }
  return new Map(
    input.sources.flatMap((source): [string, Wait][] => {
      const wait = waitOf(source);
      return wait === undefined ? [] : [[labelValue(source.name), wait]];
    }),
  );
}

function obstacleOf(input: WaitsInput, source: string): Obstacle | undefined {
  return problemOfSource(input, source) ?? unapplied(input, source) ?? unready(input, source);
}

function problemOfSource({ gathered, faults }: WaitsInput, source: string): Obstacle | undefined {
  const label = labelValue(source);
  const suspended = gathered.commits[source] === undefined ? 'it could not be read' : gathered.suspended.get(label);
  if (suspended !== undefined) return { reason: suspended, passes: false };
  const [first, ...more] = faults.get(label) ?? [];
  return first === undefined ? undefined : { reason: `${textOfFault(first)}${others(more)}`, passes: false };
}

function textOfFault({ resource, what }: ResourceFault): string {
  return `${formatId(resource)} ${what}`;
}

function unapplied({ compared, gathered, snapshot }: WaitsInput, source: string): Obstacle | undefined {
  const label = labelValue(source);
  const unread = gathered.loaded.find((each) => each.source === source && !isKnown(snapshot, each.id));
  if (unread !== undefined) return { reason: `${unread.id.kind} could not be listed`, passes: true };
  const changes = compared.filter((each) => isToBeWritten(each) && sourceOf(each.desired.object) === label);
  const [first, ...more] = changes;
  if (first === undefined) return undefined;
  return { reason: `${formatId(first.desired.id)} is not applied yet${others(more)}`, passes: true };
}

/** Returns true if it is known whether the object exists. A kind that the server does not serve has no objects. */
function isKnown(snapshot: WaitsInput['snapshot'], id: ResourceId): boolean {
  const kind = groupKindOf(id);
  return snapshot.known(kind) || snapshot.served(kind) === undefined;
}

function unready(input: WaitsInput, source: string): Obstacle | undefined {
  const found = input.gathered.loaded.flatMap((each) => (each.source === source ? unreadyText(input, each) : []));
  const [first, ...more] = found;
  return first === undefined ? undefined : { reason: `${first}${others(more)}`, passes: true };
}

function unreadyText({ snapshot, leftAlone, ownStatuses }: WaitsInput, { id, kind }: Sourced): string[] {
  const live = snapshot.find(id);
  // A missing object is reported as not applied, unless a person marked it to be left alone.
  if (live === undefined || leftAlone.has(keyOf(id))) return [];
  const general = liveStateOf(live);
  const status = isObject(live.status) ? live.status : {};
  const own = kind !== undefined && ownStatuses ? stateOf(status) : undefined;
  if (own === undefined ? general.ready : isSettled(own) && isCurrent(live.metadata, status)) return [];
  const why = own === undefined ? general.why : notReady(id, status).why;
  return [`${formatId(id)} is not ready${why === '' ? '' : ` (${why.replaceAll(/\s+/g, ' ')})`}`];
}

/**
 * Returns true if other sources need not wait for the resource. A server for which `skep dev` has no program never
 * becomes ready, so no source waits for it.
 */
function isSettled(state: ReturnType<typeof stateOf>): boolean {
  return state === 'ready' || state === 'notRun';
}

function isCurrent({ generation = 0 }: ObjectMeta, { observedGeneration }: JsonObject): boolean {
  return typeof observedGeneration !== 'number' || observedGeneration >= generation;
}

function others(more: readonly unknown[]): string {
  return more.length === 0 ? '' : `, and ${more.length} more`;
}
