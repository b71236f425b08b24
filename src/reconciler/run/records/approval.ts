// Stores approvals of lists of deletions in ConfigMaps of the home namespace until the deletions are complete. If a run
// is killed, the next run reads the approval.

import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import { isObject, parseJson } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Clock, Cluster } from '../ports.ts';
import { type LongRecord, type RecordWriter, readLongRecord, storeLongRecord } from './long-record.ts';

export interface Approval {
  /** Hash of the approved list. */
  readonly hash: string;
  /** Time in RFC 3339. */
  readonly expiresAt: string;
  /** True if deletions may have begun. The list of the remaining deletions has another hash. */
  readonly begun: boolean;
  /** Approved deletions and foreign objects, as lines. */
  readonly lines: ReadonlySet<string>;
}

export interface Approvals {
  readonly all: readonly Approval[];
  /** Record as it was read. */
  readonly stored: LongRecord;
}

/** Parts of a deletion list that an approval refers to. */
export interface Approvable {
  readonly hash: string;
  readonly deletions: readonly {
    readonly uid: string;
    readonly replaced?: true;
    /** Descriptions of foreign objects that are deleted with the object. */
    readonly takes?: readonly string[];
  }[];
}

const PURPOSE = 'approval';

export async function readApprovals(cluster: Pick<Cluster, 'get'>, home: InstanceName): Promise<Approvals> {
  const stored = await readLongRecord(cluster, home, PURPOSE);
  return { all: [...stored.texts].flatMap(([hash, text]) => parseApproval(hash, text) ?? []), stored };
}

/** Returns the approval; undefined if a person has damaged its text. */
function parseApproval(hash: string, text: string): Approval | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { expiresAt, begunAt, uids } = value;
  if (typeof expiresAt !== 'string' || !Array.isArray(uids) || Number.isNaN(Date.parse(expiresAt))) return undefined;
  return { hash, expiresAt, begun: begunAt !== undefined, lines: new Set(uids.map(String)) };
}

type ApprovedDeletion = Approvable['deletions'][number];

function linesOf(deletion: ApprovedDeletion): readonly string[] {
  const { uid, replaced, takes = [] } = deletion;
  return [replaced === true ? replacedLine(uid) : uid, ...takes.map((each) => takenLine(uid, each))];
}

function replacedLine(uid: string): string {
  return `${uid} replaced`;
}

/**
 * Returns the line for a foreign object. The line contains a digest instead of the description, because the number of
 * foreign objects may be large.
 */
function takenLine(uid: string, taken: string): string {
  return `${uid}${TAKES}${digest(taken).slice(0, 16)}`;
}

const TAKES = ' takes ';

/**
 * Returns true if the lines approve the deletion. An approved deletion also allows a replacement, but an approved
 * replacement allows no deletion without creation. All foreign objects that are deleted with the object must be
 * approved as well.
 */
function covers(lines: ReadonlySet<string>, { uid, replaced, takes = [] }: ApprovedDeletion): boolean {
  const isNamed = lines.has(uid) || (replaced === true && lines.has(replacedLine(uid)));
  return isNamed && takes.every((each) => lines.has(takenLine(uid, each)));
}

/**
 * Returns true if the approval applies to the list: the hash is the same, or the deletions are the same with fewer
 * foreign objects. After deletions have begun, the approval also applies to each part of the approved list.
 */
export function approves({ hash, begun, lines }: Approval, list: Approvable): boolean {
  if (hash === list.hash) return true;
  const isPart = list.deletions.length > 0 && list.deletions.every((each) => covers(lines, each));
  return isPart && (begun || list.deletions.length === [...lines].filter((line) => !line.includes(TAKES)).length);
}

export function isExpired({ expiresAt }: Approval, clock: Pick<Clock, 'now'>): boolean {
  return clock.now() >= Date.parse(expiresAt);
}

/**
 * Stores the approval, and removes expired approvals. Throws Failure `cluster-conflict` if another approval is stored
 * at the same moment.
 */
export async function storeApproval(
  { cluster, clock }: ApprovalDeps,
  home: InstanceName,
  list: Approvable,
  expiresAt: string,
): Promise<void> {
  const { all, stored } = await readApprovals(cluster, home);
  const others = all.filter((each) => each.hash !== list.hash && !isExpired(each, clock)).map(({ hash }) => hash);
  const entry = JSON.stringify({ expiresAt, uids: list.deletions.flatMap(linesOf) });
  await storeLongRecord(cluster, home, PURPOSE, stored, new Map([...keptTexts(stored, others), [list.hash, entry]]));
}

export interface ApprovalDeps {
  readonly cluster: RecordWriter;
  readonly clock: Pick<Clock, 'now'>;
}

function keptTexts({ texts }: LongRecord, hashes: readonly string[]): ReadonlyMap<string, string> {
  return new Map([...texts].filter(([hash]) => hashes.includes(hash)));
}

/**
 * Marks approvals as begun, before the first deletion. Throws Failure `cluster-conflict` if the record was changed
 * since it was read.
 */
export async function beginApproved(
  { cluster, clock }: ApprovalDeps,
  home: InstanceName,
  { all, stored }: Approvals,
  begun: ReadonlySet<string>,
): Promise<Approvals> {
  const fresh = all.filter((each) => begun.has(each.hash) && !each.begun);
  if (fresh.length === 0) return { all, stored };
  const begunAt = new Date(clock.now()).toISOString();
  // `begunAt` is at the end of the text, so that only the last piece of a long text changes.
  const marked = fresh.map(({ hash, expiresAt, lines }): [string, string] => [
    hash,
    JSON.stringify({ expiresAt, uids: [...lines], begunAt }),
  ]);
  return {
    all: all.map((each) => (begun.has(each.hash) ? { ...each, begun: true } : each)),
    stored: await storeLongRecord(cluster, home, PURPOSE, stored, new Map([...stored.texts, ...marked])),
  };
}

/**
 * Removes the used approvals after the last deletion. Removes nothing if another writer changed the record in the
 * meantime. Returns the failures.
 */
export async function spendApprovals(
  cluster: RecordWriter,
  home: InstanceName,
  { all, stored }: Approvals,
  spent: ReadonlySet<string>,
): Promise<readonly Failure[]> {
  if (spent.size === 0) return [];
  const left = all.filter(({ hash }) => !spent.has(hash)).map(({ hash }) => hash);
  try {
    await storeLongRecord(cluster, home, PURPOSE, stored, keptTexts(stored, left));
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code === 'cluster-conflict' || error.code === 'cluster-not-found' ? [] : [error];
  }
}
