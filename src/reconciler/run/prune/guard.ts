// Limits the deletions of a source by number and by share. Deletions need an approval if they exceed the limits, or if
// they would also delete foreign objects.

import { digest } from '#std/hash.ts';
import { countText } from '#std/words/count-text.ts';
import type { GuardLimits } from '../instance.ts';
import type { Approval } from '../records/approval.ts';
import { faultReason, type ResourceFault } from './faults.ts';

export interface Deletion {
  readonly id: string;
  readonly kind: string;
  readonly uid: string;
  /** `follows`: a child that is deleted with its owner, and is not counted. `child`: a child whose owner is kept. */
  readonly role: 'own' | 'child' | 'follows';
  /** Custom resource with which the child is deleted. */
  readonly owner?: string;
  /**
   * Set if the object is created again after its deletion. An approval of this deletion does not allow a deletion
   * without creation.
   */
  readonly replaced?: true;
  /** Descriptions of foreign objects that are deleted with the object. */
  readonly takes?: readonly string[];
  /** Kinds that could not be listed. Objects of these kinds may be deleted with the object. */
  readonly mayTake?: readonly string[];
}

/** Deletions of one source: either all need the same approval, or none needs an approval. */
export interface DeletionList {
  /** Value of the source label; empty for children of resources that people applied by hand. */
  readonly source: string;
  /** Identifies this list: a list with other deletions has another hash. */
  readonly hash: string;
  /** One sentence per reason for an approval; empty if the deletions need no approval. */
  readonly reasons: readonly string[];
  readonly deletions: readonly Omit<Deletion, 'role'>[];
  readonly approval?: Approval;
  /** Time at which the approval expired, in RFC 3339; absent if there was no approval. */
  readonly expiredAt?: string;
}

/** Numbers of objects of one source before the deletions. */
export interface Holdings {
  /** Number of live objects of the source, without children. */
  readonly own: number;
  /** Number of live objects of the source, by kind. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Number of resources that the source declares now. */
  readonly declares: number;
  /** False if skep.yaml has no source of this name. */
  readonly configured: boolean;
}

export function listOf(
  source: string,
  deletions: readonly Deletion[],
  {
    holdings,
    limits,
    faults,
  }: { readonly holdings: Holdings; readonly limits: GuardLimits; readonly faults: readonly ResourceFault[] },
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
 * Returns a list of objects that the inventory does not contain. Any user who may change an object can add our labels
 * to it, so labels alone never allow a deletion.
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
 * Leaves `mayTake` out of the hash. The approver may be allowed to list more kinds than the run, and must get the same
 * hash.
 */
function named({ mayTake: _mayTake, ...rest }: Omit<Deletion, 'role'>): Omit<Deletion, 'role' | 'mayTake'> {
  return rest;
}

/** Returns a reason if the source declares no object any more: then even a single deletion needs an approval. */
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
