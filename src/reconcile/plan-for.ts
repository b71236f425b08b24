// Gathers what a plan is made of: what is desired beside what lives, and every reason for which something stays. Knows
// nothing about where either comes from.

import type { Kind } from '../kinds/kind.ts';
import { groupOf, idOf, type KubeObject, keyOf } from '../kube/object.ts';
import { applyOrder } from '../kube/order.ts';
import { entryOf } from '../kube/ownership/entries.ts';
import type { Problem, ResourceId } from '../std/problem.ts';
import { accountsOf } from './accounts.ts';
import { approves, isExpired, readApproval } from './approval.ts';
import { concededProblems } from './conceded.ts';
import { heldOwner } from './desire.ts';
import { diff } from './diff.ts';
import type { OwnDesires } from './foreign.ts';
import type { Gathered } from './gather.ts';
import { isRecord } from './home-record.ts';
import { fieldManager, labelOf, labelValue, PART_OF } from './labels.ts';
import { isLeftAlone, type LeftAlone } from './left-alone.ts';
import { levels } from './levels.ts';
import { couldDeclare, limitsBySource, withinLimits } from './limits.ts';
import { mergeTypes } from './merge-types.ts';
import { type Plan, type PlanInput, plan } from './plan.ts';
import { type Previews, preview } from './preview.ts';
import type { RunDeps, RunOptions } from './reconcile.ts';
import { type Referrers, referrersOf } from './referrers.ts';
import { replaceBars } from './replacement.ts';
import type { Resolved } from './resolve.ts';
import { scopeOf } from './scope.ts';
import { groupKindOf, type Snapshot } from './snapshot.ts';

interface PlannedFrom {
  readonly gathered: Gathered;
  readonly snapshot: Snapshot;
  readonly resolved: Resolved;
  readonly desires: OwnDesires;
  readonly applySet: string;
  /** By key. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
  /** What this very run has asked before. */
  readonly previews?: Previews;
}

export interface Planned {
  readonly plan: Plan;
  /** What other managers keep. */
  readonly problems: readonly Problem[];
  readonly previews: Previews;
}

export async function planFor(deps: RunDeps, options: RunOptions, input: PlannedFrom): Promise<Planned> {
  const { gathered, snapshot, resolved, desires, applySet, leftAlone } = input;
  const { kinds, apiGroup } = options;
  const manager = fieldManager(options.instance);
  // What the instance keeps for itself is none of its set, whatever labels somebody gives it.
  const live = snapshot.objects().filter((object) => !isRecord(options, idOf(object)));
  const known = (id: ResourceId): boolean => snapshot.known(groupKindOf(id));
  // A child whose owner may or may not live is left alone: without the owner's uid it would lose its owner reference.
  const desired = desires.objects.filter(
    ({ id, owner }) => known(id) && (owner === undefined || (known(owner) && !isLeftAlone(snapshot.find(id)))),
  );
  const typeOf = await mergeTypes(
    deps.cluster,
    desired.map(({ id }) => id),
  );
  const force = options.conflicts === 'force';
  const { compared, surplus } = diff({ desired, living: snapshot.find, live, typeOf, manager, applySet, force });
  const { prune, instance } = options;
  const applied = appliedBy(instance);
  const accountOf = accountsOf(deps.sources);
  const previewed = await preview(deps, {
    compared,
    manager,
    force,
    accountOf,
    living: snapshot.find,
    replaceBar: replaceBars({ loaded: gathered.loaded, applySet, applied, prune }),
    ...(input.previews === undefined ? {} : { before: input.previews }),
  });
  const whole = await withApproval(deps, options, {
    compared: previewed.compared,
    surplus,
    leftAlone,
    owned: live.filter((object) => labelOf(object, PART_OF) === applySet),
    heldOwners: options.children ? desires.heldOwners : new Set([...desires.heldOwners, ...othersOwners(live, input)]),
    unknownOwnerKinds: unknownOwnerKinds(options, snapshot),
    // Nobody asks where nothing goes.
    referrers: surplus.length === 0 ? NOBODY : referrersOf({ standings: resolved.standings, live, kinds, apiGroup }),
    unknownReferrers: unlisted(options, snapshot),
    inhabited: new Set(
      [...desires.objects.map(({ id }) => id), ...gathered.invalid].flatMap(({ namespace }) => namespace ?? []),
    ),
    heldKeys: heldKeys(gathered, resolved),
    sources: new Set(deps.sources.map(({ name }) => labelValue(name))),
    suspended: gathered.suspended,
    prune,
    allows: scopeOf(options.namespaces).allows,
    couldDeclare: couldDeclare(limitsBySource(deps.sources)),
    withinLimits: withinLimits(limitsBySource(deps.sources)),
    applied,
    accountOf,
    limits: options.limits,
    rank: rankOf(options.kinds, options.apiGroup),
  });
  const plan = options.admit === undefined ? whole : options.admit(whole, snapshot.find);
  const problems = concededProblems(previewed.compared, gathered.loaded);
  return { plan, problems, previews: previewed.previews };
}

/** Another operator makes the children of what lives and is not of our set: what we made of it stays with it. */
function othersOwners(live: readonly KubeObject[], { applySet }: Pick<PlannedFrom, 'applySet'>): string[] {
  return live.filter((object) => labelOf(object, PART_OF) !== applySet).map((object) => heldOwner(idOf(object)));
}

/** An approval is looked for only where something waits for one. */
async function withApproval(deps: RunDeps, options: RunOptions, input: PlanInput): Promise<Plan> {
  const unapproved = plan(input);
  const { guarded } = unapproved;
  const approval = guarded === undefined ? undefined : await readApproval(deps.cluster, options);
  if (guarded === undefined || approval === undefined || !approves(approval, guarded)) return unapproved;
  if (!isExpired(approval, deps.clock)) return plan({ ...input, approval });
  return { ...unapproved, guarded: { ...guarded, expiredAt: approval.expiresAt } };
}

/** Whether an object shows that the instance has applied it. */
export function appliedBy(instance: string): (object: KubeObject) => boolean {
  const manager = fieldManager(instance);
  return (object) => entryOf(object, manager) !== undefined;
}

function unknownOwnerKinds({ kinds, apiGroup: group }: RunOptions, snapshot: Snapshot): ReadonlySet<string> {
  const unknown = kinds.filter(({ kind }) => !snapshot.known({ group, kind }));
  return new Set(unknown.map(({ kind }) => kind.toLowerCase()));
}

const NOBODY: Referrers = { living: () => [], wanted: () => [] };

/** Of a kind that is not served there is nothing. */
function unlisted({ kinds, apiGroup: group }: RunOptions, snapshot: Snapshot): readonly string[] {
  return kinds
    .map(({ kind }) => ({ group, kind }))
    .filter((kind) => snapshot.served(kind) !== undefined && !snapshot.known(kind))
    .map(({ kind }) => kind);
}

/** Invalid resources, and those that depend on them. */
function heldKeys({ invalid }: Gathered, { standings }: Resolved): ReadonlySet<string> {
  const held = standings.filter(({ verdict }) => verdict === 'held').map(({ loaded }) => loaded.id);
  return new Set([...invalid, ...held].map(keyOf));
}

/** Built-in kinds in their usual order, then ours by `after`. */
function rankOf(kinds: readonly Kind[], apiGroup: string): (id: ResourceId) => number {
  const level = levels(kinds);
  return (id) =>
    groupOf(id.apiVersion) === apiGroup ? OURS + (level.get(id.kind) ?? 0) : applyOrder(id.apiVersion, id.kind);
}

/** After every built-in kind. */
const OURS = 1000;
