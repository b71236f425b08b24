// Gathers what a plan is made of: what is desired beside what lives, and every reason for which something stays. Knows
// nothing about where either comes from.

import type { Kind } from '../../kinds/kind.ts';
import { groupOf, idOf, type KubeObject, keyOf } from '../../kube/object.ts';
import { applyOrder } from '../../kube/order.ts';
import type { Problem, ResourceId } from '../../std/problem.ts';
import { heldOwner } from '../desire/desire.ts';
import type { OwnDesires } from '../desire/foreign.ts';
import { type FoundField, fieldsFound, problemsOf } from '../diff/conceded.ts';
import { diff } from '../diff/diff.ts';
import { type PreviewDeps, type Previews, preview } from '../diff/preview.ts';
import type { InstanceName, OwnKinds, Permissions } from '../instance.ts';
import { applySetId, fieldManager, labelOf, labelValue, PART_OF } from '../labels.ts';
import { appliedBy } from '../observe/applied-by.ts';
import { mergeTypes } from '../observe/merge-types.ts';
import { scopeOf } from '../observe/scope.ts';
import { groupKindOf, type Snapshot } from '../observe/snapshot.ts';
import type { Admission } from '../plan-file/admission.ts';
import type { Clock, Cluster } from '../ports.ts';
import { isLeftAlone, type LeftAlone } from '../prune/left-alone.ts';
import { type Referrers, referrersOf } from '../prune/referrers.ts';
import { replaceBars } from '../prune/replacement.ts';
import { couldDeclare, withinLimits } from '../prune/within-limits.ts';
import type { FleetSource, Gathered } from '../read/gather.ts';
import { limitsBySource } from '../read/limits.ts';
import { approves, isExpired, readApproval } from '../records/approval.ts';
import { isRecord } from '../records/home-record.ts';
import type { Resolved } from '../resolve/resolve.ts';
import { accountsOf } from './accounts.ts';
import { levels } from './levels.ts';
import { type Plan, type PlanInput, plan } from './plan.ts';

export interface PlanDeps extends PreviewDeps {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, 'now'>;
  readonly sources: readonly Pick<FleetSource, 'name' | 'allow' | 'account'>[];
}

export interface PlanOptions extends InstanceName, OwnKinds, Permissions {
  /** Absent: whatever is planned is done. */
  readonly admit?: Admission;
}

interface PlannedFrom {
  readonly gathered: Gathered;
  readonly snapshot: Snapshot;
  readonly resolved: Resolved;
  readonly desires: OwnDesires;
  /** By key. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
  /** What this very run has asked before. */
  readonly previews?: Previews | undefined;
}

export interface Planned {
  readonly plan: Plan;
  /** Fields that other managers have set to other values. */
  readonly fields: readonly FoundField[];
  /** Of them, what differs from Git. */
  readonly problems: readonly Problem[];
  readonly previews: Previews;
}

export async function planFor(deps: PlanDeps, options: PlanOptions, input: PlannedFrom): Promise<Planned> {
  const { gathered, snapshot, resolved, desires, leftAlone } = input;
  const { kinds, apiGroup } = options;
  const applySet = applySetId(options.instance, options.homeNamespace);
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
    before: input.previews,
  });
  const whole = await withApproval(deps, options, {
    compared: previewed.compared,
    surplus,
    leftAlone,
    owned: live.filter((object) => labelOf(object, PART_OF) === applySet),
    heldOwners: options.children
      ? desires.heldOwners
      : new Set([...desires.heldOwners, ...othersOwners(live, applySet)]),
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
  const fields = fieldsFound(previewed.compared);
  const problems = problemsOf(fields, gathered.loaded, manager);
  return { plan, fields, problems, previews: previewed.previews };
}

/** Another operator makes the children of what lives and is not of our set: what we made of it stays with it. */
function othersOwners(live: readonly KubeObject[], applySet: string): string[] {
  return live.filter((object) => labelOf(object, PART_OF) !== applySet).map((object) => heldOwner(idOf(object)));
}

/** An approval is looked for only where something waits for one. */
async function withApproval(deps: PlanDeps, options: InstanceName, input: PlanInput): Promise<Plan> {
  const unapproved = plan(input);
  const { guarded } = unapproved;
  const approval = guarded === undefined ? undefined : await readApproval(deps.cluster, options);
  if (guarded === undefined || approval === undefined || !approves(approval, guarded)) return unapproved;
  if (!isExpired(approval, deps.clock)) return plan({ ...input, approval });
  return { ...unapproved, guarded: { ...guarded, expiredAt: approval.expiresAt } };
}

function unknownOwnerKinds({ kinds, apiGroup: group }: OwnKinds, snapshot: Snapshot): ReadonlySet<string> {
  const unknown = kinds.filter(({ kind }) => !snapshot.known({ group, kind }));
  return new Set(unknown.map(({ kind }) => kind.toLowerCase()));
}

const NOBODY: Referrers = { living: () => [], wanted: () => [] };

/** Of a kind that is not served there is nothing. */
function unlisted({ kinds, apiGroup: group }: OwnKinds, snapshot: Snapshot): readonly string[] {
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
