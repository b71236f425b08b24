// Creates the content of a plan file from a plan, and parses a plan file.

import type { ResourceId } from '#std/problem.ts';
import { type Fingerprints, fingerprintsBy } from '../diff/fingerprints.ts';
import { fieldManager } from '../labels.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { Change, Plan } from '../plan/plan.ts';
import type { DeletionList } from '../prune/guard.ts';
import { PLAN_FILE, PLAN_FILE_VERSION, type PlanFile, type PlannedChange, type PlannedSource } from './format.ts';
import { type FileKind, readVersioned, withDigest } from './versioned-file.ts';

/** Facts that must be the same when the plan file is applied. */
export interface PlanBinding {
  readonly tool: PlanFile['tool'];
  readonly instance: string;
  readonly cluster: PlanFile['cluster'];
  readonly settings: PlanFile['settings'];
}

export interface PlanFileInput {
  readonly binding: PlanBinding;
  readonly sources: readonly PlannedSource[];
  /** Time in RFC 3339. */
  readonly createdAt: string;
  readonly prepared: { readonly plan: Plan; readonly snapshot: Pick<Snapshot, 'find'> };
  /** Key for digests of Secrets; undefined if the key does not exist or cannot be read. */
  readonly key: Uint8Array | undefined;
}

export function planFileOf({ binding, sources, createdAt, prepared, key }: PlanFileInput): PlanFile {
  const { plan, snapshot } = prepared;
  const prints = fingerprintsBy(fieldManager(binding.instance), key);
  const body = {
    format: 'skep-plan' as const,
    version: PLAN_FILE_VERSION,
    createdAt,
    ...binding,
    sealed: key !== undefined,
    sources: [...sources],
    batches: plan.batches.map(({ name, changes }) => ({
      name,
      changes: changes.map((change) => plannedChange(prints, snapshot.find, change)),
    })),
    held: plan.held.map(({ resource, reason }) => ({ resource, reason })),
    unchanged: plan.unchanged.length,
    guard: guardOf(plan),
  };
  return withDigest(body);
}

export function plannedChange(prints: Fingerprints, living: Snapshot['find'], change: Change): PlannedChange {
  const { action, resource, diff } = change;
  const live = action === 'create' ? undefined : living(resource);
  const seen = live === undefined ? undefined : prints.ofLive(live, diff);
  const owner: ResourceId | undefined = change.action === 'delete' ? undefined : change.owner;
  const desired = change.action === 'delete' ? undefined : prints.desired(change.object, owner !== undefined);
  return {
    action,
    resource,
    uid: change.uid,
    owner,
    replaces: change.action !== 'delete' && change.replaces === true ? true : undefined,
    seen,
    desired,
    fields: diff.length === 0 ? undefined : diff.map(({ path }) => path),
  };
}

function guardOf({ waiting, approved }: Plan): PlanFile['guard'] {
  const lists: readonly DeletionList[] = [...waiting, ...approved];
  return lists.map(({ source, hash, reasons, deletions, approval }) => ({
    source,
    verdict: approval === undefined ? 'waits' : 'approved',
    hash,
    reasons: [...reasons],
    deletions: deletions.map(({ id, uid }) => ({ id, uid })),
  }));
}

export function formatPlanFile(file: PlanFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}

const KIND: FileKind = {
  format: 'skep-plan',
  version: PLAN_FILE_VERSION,
  schema: PLAN_FILE,
  says: 'plan file (skep plan --out writes one)',
  invalid: 'plan-invalid',
  otherVersion: 'plan-version',
};

/** Returns the content. Throws Failure `plan-invalid` or `plan-version`. `name` is the file name for messages. */
export function parsePlanFile(text: string, name: string): PlanFile {
  return readVersioned(KIND, text, name) as PlanFile;
}
