// Computes the content of the inventory before the first change of a plan, and after the last change.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { Change, Plan } from '../plan/plan.ts';
import { listsByUid } from '../prune/lists.ts';
import { sourceOf } from '../prune/may-delete.ts';
import type { InventoryContent, InventoryEntry, Leaving } from '../records/inventory.ts';
import type { ChangeOutcome } from './apply.ts';

export interface Beginning {
  readonly plan: Plan;
  readonly run: string;
  readonly content: InventoryContent;
  readonly snapshot: Pick<Snapshot, 'findByKey' | 'known'>;
}

/** Returns the content with the objects that the plan creates or deletes, and without objects that no longer exist. */
export function contentBefore({ plan, run, content, snapshot }: Beginning): InventoryContent {
  const changes = plan.batches.flatMap((batch) => batch.changes);
  const isGone = (key: string): boolean => {
    const [group = '', kind = ''] = key.split('/');
    return snapshot.findByKey(key) === undefined && snapshot.known({ group, kind });
  };
  const entries = new Map([...content.entries].filter(([key]) => !isGone(key)));
  const lists = listsByUid([...plan.approved, ...plan.within]);
  const leaving = new Map([...content.leaving].filter(([key]) => !isGone(key)));
  for (const change of changes) {
    if (change.action === 'delete' || change.replaces === true) leaving.set(change.key, leavingOf(change, lists));
    if (change.action === 'delete' || change.owner !== undefined) continue;
    const creates = change.action === 'create' || change.replaces === true;
    const before = entries.get(change.key);
    if (creates || before !== undefined) entries.set(change.key, entryOfChange(change, before, creates, run));
  }
  return { entries, leaving };
}

function entryOfChange(
  change: Exclude<Change, { action: 'delete' }>,
  before: InventoryEntry | undefined,
  creates: boolean,
  run: string,
): InventoryEntry {
  const source = sourceOf(change.object);
  const uid = change.action === 'create' ? undefined : before?.uid;
  // Until its deletion, a replaced object is recognised by its uid. The new object is recognised by the id of the run.
  return { source, run: creates || change.touched === true ? run : (before?.run ?? run), uid };
}

function leavingOf(change: Change, lists: ReturnType<typeof listsByUid>): Leaving {
  const { uid = '' } = change;
  const replaced = change.action !== 'delete' ? true : undefined;
  return { uid, approval: lists.get(uid)?.approval?.hash, replaced };
}

/** Adds the uids of created objects, and drops deleted objects. */
export function contentAfter(
  { entries, leaving }: InventoryContent,
  outcomes: readonly ChangeOutcome[],
): InventoryContent {
  const after = { entries: new Map(entries), leaving: new Map(leaving) };
  for (const { action, resource, uid, error } of outcomes) {
    const key = keyOf(resource);
    const entry = after.entries.get(key);
    if (action === 'deleted') after.entries.delete(key);
    if (uid !== undefined && (entry !== undefined || entries.has(key))) {
      after.entries.set(key, { ...(entry ?? entries.get(key) ?? { source: '', run: '' }), uid });
    }
    // A deletion without a response may still take effect.
    if (error === undefined || !UNANSWERED.has(error.code)) after.leaving.delete(key);
  }
  return after;
}

const UNANSWERED: ReadonlySet<string> = new Set(['cluster-unreachable', 'cluster-error', 'lock-lost']);

export function sameContent(a: InventoryContent, b: InventoryContent): boolean {
  return a === b || (sameMap(a.entries, b.entries) && sameMap(a.leaving, b.leaving));
}

function sameMap(a: ReadonlyMap<string, object>, b: ReadonlyMap<string, object>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => JSON.stringify(value) === JSON.stringify(b.get(key)));
}
