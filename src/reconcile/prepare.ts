// Everything a run does before it writes to the cluster: gather, observe, sync registries, resolve, desire, diff, plan.
// Knows nothing about locks or how changes are made.

import { idOf, type KubeObject, keyOf } from '../kube/object.ts';
import type { Problem, ResourceId } from '../std/problem.ts';
import type { Extent } from './applyset.ts';
import { ofOthers } from './by-hand.ts';
import { type Desires, desire } from './desire.ts';
import { withDigests } from './digest-key.ts';
import { type ChildrenEnforced, type Enforced, enforce, enforceOnChildren } from './enforce.ts';
import { type OwnDesires, withoutForeign } from './foreign.ts';
import type { Gathered } from './gather.ts';
import { keepValues } from './generated.ts';
import { applySetId } from './labels.ts';
import { type LeftAlone, leftAloneOf } from './left-alone.ts';
import { livingRegistries } from './living-registries.ts';
import { groupKindFor, observe } from './observe.ts';
import type { Plan } from './plan.ts';
import { appliedBy, planFor } from './plan-for.ts';
import type { Previews } from './preview.ts';
import type { Quarantine } from './quarantine.ts';
import type { RunDeps, RunOptions } from './reconcile.ts';
import { inOneRun, type RegistryResults, type SyncMode, syncRegistries } from './registries.ts';
import { type Resolved, type ResolveInput, resolve } from './resolve.ts';
import { type GroupKind, groupKindOf, type Snapshot } from './snapshot.ts';
import { openViews } from './view.ts';

export interface Prepared {
  readonly quarantine: Quarantine;
  readonly gathered: Gathered;
  readonly snapshot: Snapshot;
  readonly registries: RegistryResults;
  /** What is asked to be left alone, of what Git declares; by key. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
  readonly resolved: Resolved;
  /** Everything that the healthy resources should become, before somebody else's is left out. */
  readonly wishes: Desires;
  readonly desires: OwnDesires;
  readonly plan: Plan;
  readonly previews: Previews;
  readonly problems: readonly Problem[];
  /** The ApplySet parent as it lives; its extent is empty where there is none yet. */
  readonly parent: { readonly id: ResourceId; readonly extent: Extent };
  /** True where there is no key yet for the digests of Secrets. */
  readonly unsealed: boolean;
  /** Kinds whose objects say how far the run's resources are. */
  readonly watched: readonly GroupKind[];
}

/**
 * Throws Failure where the cluster cannot be asked at all; what single sources or LISTs refuse is in the result. `before`:
 * what this very run has prepared already.
 */
export async function prepare(
  deps: RunDeps,
  options: RunOptions,
  mode: SyncMode,
  before?: Prepared,
): Promise<Prepared> {
  const { kinds, apiGroup, instance, homeNamespace } = options;
  const { quarantine, gathered: fit, snapshot, parent, ownKinds } = await observe(deps, options);
  const leftAlone = leftAloneOf(fit.loaded, snapshot.find);
  const { gathered, judge } = await enforce(deps, options, fit, leftAlone);
  const views = openViews({ apiGroup, layers: [snapshot.objects(), declared(gathered, leftAlone)] });
  const unfit = new Set([...leftAlone.keys(), ...gathered.invalid.map(keyOf)]);
  const known = { loaded: gathered.loaded, views };
  const synced = options.registriesAs === 'living' ? livingRegistries(options, snapshot) : known;
  const now = await syncRegistries(deps, { mode, apiGroup, ...synced, unfit, living: snapshot.find });
  const registries = before === undefined ? now : inOneRun(before.registries, now);
  const { loaded, invalid } = gathered;
  const asDeclared = resolve({
    loaded,
    invalid,
    kinds,
    views,
    knowledge: knowledgeOf(snapshot, apiGroup),
    images: registries.images,
    leftAlone,
    living: snapshot.find,
  });
  const applySet = applySetId(instance, homeNamespace);
  const wished = await wish(deps, options, mode, { judge, resolved: asDeclared, views, snapshot });
  const { resolved, wishes, unsealed } = wished;
  const { standings } = resolved;
  const desiredKinds = wishes.objects.map(({ id }) => groupKindOf(id));
  await snapshot.ensure(desiredKinds);
  const applied = appliedBy(instance);
  const ours = withoutForeign({ desires: wishes, standings, living: snapshot.find, applySet, applied });
  const desires = keepValues(ours, snapshot.find);
  const previews = before === undefined ? {} : { previews: before.previews };
  const found = { gathered, snapshot, resolved, desires, applySet, leftAlone, ...previews };
  const planned = await planFor(deps, options, found);
  return {
    quarantine,
    gathered,
    snapshot,
    registries,
    leftAlone,
    resolved,
    wishes,
    desires,
    plan: planned.plan,
    previews: planned.previews,
    problems: toldOf(gathered, [gathered, registries, resolved, wished, desires, planned]),
    parent,
    unsealed,
    watched: [...ownKinds, ...desiredKinds],
  };
}

/** What the healthy resources become, but for what policies deny. */
async function wish(
  deps: RunDeps,
  options: RunOptions,
  mode: SyncMode,
  found: { readonly judge: Enforced['judge'] | undefined } & Pick<ResolveInput, 'views'> &
    Pick<Prepared, 'resolved' | 'snapshot'>,
): Promise<ChildrenEnforced & { readonly unsealed: boolean }> {
  const { judge, resolved, views, snapshot } = found;
  const { settings, children, instance, homeNamespace } = options;
  const applySet = applySetId(instance, homeNamespace);
  const { standings } = resolved;
  const { made, unsealed } = await withDigests(deps.digestKey, mode, (digest) =>
    desire({ standings, views, settings: { ...settings, digest }, applySet, living: snapshot.find, children }),
  );
  return { ...enforceOnChildren(judge, resolved, made), unsealed };
}

function toldOf({ loaded }: Gathered, stages: readonly { readonly problems: readonly Problem[] }[]): Problem[] {
  const byHand = new Set(loaded.filter((each) => each.byHand === true).map(({ id }) => keyOf(id)));
  const isOthers = ({ resource }: Problem) => resource !== undefined && byHand.has(keyOf(resource));
  return stages.flatMap(({ problems }) =>
    problems.flatMap((problem) => (isOthers(problem) ? ofOthers(problem) : problem)),
  );
}

/** Of a kind that is not served there is nothing: that is known, too. */
function knowledgeOf(snapshot: Snapshot, apiGroup: string): ResolveInput['knowledge'] {
  return (kind) => {
    const target = groupKindFor(kind, apiGroup);
    return snapshot.known(target) || snapshot.served(target) === undefined ? 'listed' : 'failed';
  };
}

/** What Git says, as kinds read it: with defaults and what others keep, and without what is invalid or left as it lives. */
function declared({ loaded, invalid }: Gathered, leftAlone: Prepared['leftAlone']): KubeObject[] {
  const broken = new Set(invalid.map(keyOf));
  const applied = loaded.filter(({ id }) => !broken.has(keyOf(id)) && !leftAlone.has(keyOf(id)));
  return applied.map((each) => each.defaulted ?? each.kept ?? each.object);
}

/** Identities of everything that is a member of our set once the plan is done. */
export function membersOf(prepared: Pick<Prepared, 'desires' | 'plan'>): ResourceId[] {
  const { held, withheld = [] } = prepared.plan;
  const staying = [...held.filter(({ leaving }) => leaving !== true), ...withheld];
  return [...prepared.desires.objects.map(({ id }) => id), ...staying.map(({ resource }) => resource)];
}

/** Uid by key of everything listed. */
export function livingUids(snapshot: Snapshot): ReadonlyMap<string, string> {
  return new Map(
    snapshot.objects().flatMap((object): [string, string][] => {
      const { uid } = object.metadata;
      return uid === undefined ? [] : [[keyOf(idOf(object)), uid]];
    }),
  );
}
