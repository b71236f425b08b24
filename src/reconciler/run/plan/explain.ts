// Explains why each object is created, changed, deleted or kept unchanged, from the results of the stages of a plan.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { formatId, type ResourceId, type SourcePlace } from '#std/problem.ts';
import type { OwnDesires } from '../desire/foreign.ts';
import { labelOf, OWNER, SOURCE } from '../labels.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import { ownerOf } from '../prune/may-delete.ts';
import type { Gathered } from '../read/gather.ts';
import type { Sourced } from '../read/sourced.ts';
import type { Resolved } from '../resolve/resolve.ts';
import type { Change, Plan } from './plan.ts';

export interface Explanation {
  readonly resource: ResourceId;
  readonly what: 'created' | 'updated' | 'replaced' | 'deleted' | 'unchanged' | 'held' | 'refused';
  /** Reasons as sentences without full stop, the most important reason first. */
  readonly because: readonly string[];
  /** Place of the manifest of the object or its owner. */
  readonly declared?: { readonly source: string; readonly place: SourcePlace };
  readonly owner?: ResourceId;
}

interface Explained {
  readonly gathered: Pick<Gathered, 'loaded' | 'invalid'>;
  readonly snapshot: Pick<Snapshot, 'find'>;
  readonly resolved: Pick<Resolved, 'standings'>;
  readonly desires: Pick<OwnDesires, 'objects'>;
  readonly plan: Plan;
}

/** Explains each declared object, each child of a declared object, and each object of our ApplySet. Sorted by id. */
export function explain(prepared: Explained): readonly Explanation[] {
  const found = new Map<string, Explanation>();
  const look = lookup(prepared);
  const note = (resource: ResourceId, what: Explanation['what'], because: readonly string[]): void => {
    const key = keyOf(resource);
    if (!found.has(key)) found.set(key, { resource, what, because, ...look.origin(resource) });
  };
  const { plan, gathered, resolved, desires } = prepared;
  for (const change of plan.batches.flatMap(({ changes }) => changes)) {
    note(change.resource, whatOf(change), [...reasonsOf(change, look, plan), ...look.notes(change.resource)]);
  }
  for (const resource of plan.unchanged) {
    note(resource, 'unchanged', ['it is in the cluster as it is declared', ...look.notes(resource)]);
  }
  for (const { resource, reason } of plan.held) note(resource, 'held', [reason, ...guardReasons(plan, resource)]);
  for (const { loaded, health, findings } of resolved.standings) {
    if (health === 'held')
      note(
        loaded.id,
        'held',
        findings
          .map(({ message }) => message)
          .concat(INVALID)
          .slice(0, 1),
      );
  }
  for (const id of gathered.invalid) note(id, 'held', [INVALID]);
  for (const { id, owner } of desires.objects) note(id, 'held', [unlisted(prepared, id, owner)]);
  return [...found.values()].sort((a, b) => (formatId(a.resource) < formatId(b.resource) ? -1 : 1));
}

const INVALID = 'its manifest is invalid: see the problems';

function whatOf(change: Change): Explanation['what'] {
  if (change.action === 'delete') return 'deleted';
  if (change.preview?.result === 'refused') return 'refused';
  if (change.action === 'create') return 'created';
  return change.replaces === true ? 'replaced' : 'updated';
}

function reasonsOf(change: Change, look: Lookup, plan: Plan): string[] {
  if (change.action === 'delete') return deletionReasons(change, look, plan);
  const preview = change.preview;
  if (preview?.result === 'refused') return [`the API server refuses the change: ${preview.message}`];
  const unchecked =
    preview?.result === 'skipped' ? [`the API server could not check the change beforehand: ${preview.reason}`] : [];
  if (change.action === 'create') return ['it is not in the cluster yet', ...unchecked];
  const paths = change.diff.map(({ path }) => path);
  const differing =
    paths.length === 0
      ? 'this instance does not own all of its declared fields yet'
      : `these differ: ${paths.join(', ')}`;
  const replaced =
    'the API server allows these changes only in a new object, and its manifest allows that it is deleted and created again';
  return [differing, ...(change.replaces === true ? [replaced] : []), ...unchecked];
}

function deletionReasons(change: Extract<Change, { action: 'delete' }>, look: Lookup, plan: Plan): string[] {
  const live = look.living(change.resource);
  const owner = live === undefined ? undefined : labelOf(live, OWNER);
  const source = live === undefined ? undefined : labelOf(live, SOURCE);
  const from = source === undefined ? '' : ` (source ${source} did)`;
  const first = owner === undefined ? `no source declares it any more${from}` : `its owner ${owner} no longer needs it`;
  const referrers = change.referrers.map(formatId);
  const after =
    referrers.length === 0 ? [] : [`it is deleted after the objects that refer to it: ${referrers.join(', ')}`];
  const isApproved = plan.approved.some(({ deletions }) => deletions.some(({ uid }) => uid === change.uid));
  const limits = isApproved ? 'the deletions are approved' : 'the deletions are within the limits';
  return [first, 'it belongs to this instance, which has applied it', ...after, limits];
}

function guardReasons({ waiting }: Plan, resource: ResourceId): readonly string[] {
  const id = formatId(resource);
  const list = waiting.find(({ deletions }) => deletions.some((each) => each.id === id));
  return list === undefined
    ? []
    : [...list.reasons, `to delete it, and all that waits with it: skep approve ${list.hash}`];
}

function unlisted({ snapshot }: Explained, id: ResourceId, owner: ResourceId | undefined): string {
  const unknown = [id, ...(owner === undefined ? [] : [owner])].find((each) => snapshot.find(each) === undefined);
  return `${(unknown ?? id).kind} could not be listed, so its state is unknown`;
}

interface Lookup {
  readonly living: (id: ResourceId) => KubeObject | undefined;
  readonly origin: (id: ResourceId) => Pick<Explanation, 'declared' | 'owner'>;
  readonly notes: (id: ResourceId) => readonly string[];
}

function lookup({ gathered, snapshot, resolved, desires, plan }: Explained): Lookup {
  const loaded = new Map(gathered.loaded.map((each) => [keyOf(each.id), each]));
  const owners = new Map(desires.objects.map(({ key, owner }) => [key, owner]));
  const refused = new Map(resolved.standings.map((standing) => [keyOf(standing.loaded.id), standing]));
  const declaredAt = (each: Sourced | undefined) =>
    each === undefined || each.byHand === true ? {} : { declared: { source: each.source, place: each.place('') } };
  return {
    living: snapshot.find,
    origin(id) {
      const owner = owners.get(keyOf(id)) ?? ownerOf(snapshot.find(id));
      const declared = declaredAt(loaded.get(keyOf(owner ?? id)));
      return { ...declared, owner };
    },
    notes(id) {
      const standing = refused.get(keyOf(id));
      const held = plan.held.some(({ resource }) => keyOf(resource) === keyOf(id));
      if (standing?.health !== 'refused' || held) return [];
      const errors = standing.findings.filter(({ severity }) => severity === 'error');
      return errors.map(({ message }) => `its children are kept unchanged: ${message}`);
    },
  };
}
