// Keeps a run from deleting more objects of a source than was intended: limits by count and by share, and an approval
// for foreign objects that would be deleted too.

import { digest } from '#std/hash.ts';
import { countText } from '#std/words/count-text.ts';
import type { GuardLimits } from '../instance.ts';
import type { Approval } from '../records/approval.ts';
import { type Fault, faultReason } from './faults.ts';

export interface Deletion {
  readonly id: string;
  readonly kind: string;
  readonly uid: string;
  /**
   * `follows`: a child whose owner is deleted too, so that the child is not counted. `child`: a child whose owner
   * stays.
   */
  readonly role: 'own' | 'child' | 'follows';
  /** Custom resource that the object was created for, and is deleted with. */
  readonly owner?: string;
  /** Set if the object is created again: its approval does not allow deleting it for good. */
  readonly replaced?: true;
  /** Foreign objects that are deleted with the object, in words. */
  readonly takes?: readonly string[];
  /** Kinds that the account may not list: objects of these kinds are deleted with the object, too. */
  readonly mayTake?: readonly string[];
}

/** The deletions of one source that one approval allows, or that need no approval. */
export interface DeletionList {
  /** Value of the source label; empty for children of resources that people applied by hand. */
  readonly source: string;
  /** Identifies exactly this list of deletions. */
  readonly hash: string;
  /** A sentence for each exceeded limit; empty if the deletions need no approval. */
  readonly reasons: readonly string[];
  readonly deletions: readonly Omit<Deletion, 'role'>[];
  /** Approval of exactly this list. */
  readonly approval?: Approval;
  /** Time at which the approval of the list expired (RFC 3339); absent if it had no approval. */
  readonly expiredAt?: string;
}

/** Number of objects of one source before the deletions. */
export interface Holdings {
  /** Objects that the source declares or declared, without children. */
  readonly own: number;
  /** All objects, by kind. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Resources that the source declares now. */
  readonly declares: number;
  /** False if the configuration has no source of that name. */
  readonly configured: boolean;
}

export function listOf(
  source: string,
  deletions: readonly Deletion[],
  {
    holdings,
    limits,
    faults,
  }: { readonly holdings: Holdings; readonly limits: GuardLimits; readonly faults: readonly Fault[] },
): DeletionList {
  const counted = deletions.filter(({ role }) => role !== 'follows');
  const reasons = [
    ...(faults.length > 0 && deletions.some(({ replaced }) => replaced === undefined) ? [faultReason(faults)] : []),
    ...emptied(source, counted, holdings),
    ...counted.flatMap(taking),
    ...beyondCount(counted, limits),
    ...beyondShare(counted, holdings, limits),
  ];
  return nameList(source, reasons, deletions);
}

/**
 * Returns a list of objects that no record says we created. Any user who may patch an object can write its labels, so
 * labels alone never cause a deletion.
 */
export function unrecordedList(source: string, deletions: readonly Deletion[]): DeletionList {
  const count = countText(deletions.length, 'object has', 'objects have');
  const reason = `${count} the labels of this instance, and its inventory has no record that it created them`;
  return nameList(source, [reason, ...deletions.flatMap(taking)], deletions);
}

function nameList(source: string, reasons: readonly string[], all: readonly Deletion[]): DeletionList {
  const deletions = all.map(({ role: _role, ...rest }) => rest).sort((a, b) => (a.id < b.id ? -1 : 1));
  return { source, hash: digest([source, deletions.map(named)]).slice(0, 16), reasons, deletions };
}

/**
 * Leaves `mayTake` out of the hash: the approver may be allowed to list more kinds than the run that requests the
 * approval, and both must get the same hash.
 */
function named({ mayTake: _mayTake, ...rest }: Omit<Deletion, 'role'>): Omit<Deletion, 'role' | 'mayTake'> {
  return rest;
}

/** Returns a reason if the source would be emptied, even by a single deletion. */
function emptied(source: string, counted: readonly Deletion[], { own, declares, configured }: Holdings): string[] {
  const gone = counted.filter(({ role, replaced }) => role === 'own' && replaced === undefined).length;
  if (source === '' || gone === 0 || declares > 0) return [];
  const what = configured ? `source ${source} declares nothing any more` : `skep.yaml has no source ${source} any more`;
  const total = Math.max(own, gone);
  const which =
    gone < total ? `${gone} of its ${total} objects` : total === 1 ? 'its only object' : `all ${total} of its objects`;
  return [`${what}, and ${which} would be deleted`];
}

function taking({ id, takes = [], mayTake = [] }: Deletion): string[] {
  return [
    ...(takes.length === 0
      ? []
      : [`deleting ${id} also deletes content that this instance does not manage: ${firstWords(takes)}`]),
    ...(mayTake.length === 0
      ? []
      : [`deleting ${id} also deletes all objects of kinds that may not be listed: ${firstWords(mayTake)}`]),
  ];
}

function firstWords(words: readonly string[]): string {
  const more = words.length > SHOWN_MAX ? ` and ${words.length - SHOWN_MAX} more` : '';
  return `${words.slice(0, SHOWN_MAX).join(', ')}${more}`;
}

const SHOWN_MAX = 10;

function beyondCount(counted: readonly Deletion[], { maxDeletes }: GuardLimits): string[] {
  if (counted.length <= maxDeletes) return [];
  return [`${countText(counted.length, 'deletion')}, more than apply.maxDeletes allows (${maxDeletes})`];
}

function beyondShare(counted: readonly Deletion[], { own, kinds }: Holdings, limits: GuardLimits): string[] {
  const { maxDeletesPercent } = limits;
  const isBeyond = (count: number, total: number): boolean => count >= 2 && count * 100 > total * maxDeletesPercent;
  const limit = `more than apply.maxDeletesPercent allows (${maxDeletesPercent} %)`;
  const ofKinds = [...Map.groupBy(counted, ({ kind }) => kind)]
    .map(([kind, each]): [string, number] => [kind, each.length])
    .filter(([kind, count]) => isBeyond(count, kinds.get(kind) ?? count))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, count]) => `${count} of ${kinds.get(kind) ?? count} ${kind}, ${limit}`);
  const gone = counted.filter(({ role }) => role === 'own').length;
  if (ofKinds.length > 0 || !isBeyond(gone, own)) return ofKinds;
  return [`${gone} of ${own} objects of the source, ${limit}`];
}
