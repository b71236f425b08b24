// Approvals of exact lists of deletions, kept in a ConfigMap of the home namespace until they are done: a run that was
// killed half way through finds them again. Knows nothing about limits or how deletions are made.

import type { KubeObject } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import { isObject, parseJson } from '../../std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Clock, Cluster } from '../ports.ts';
import { readRecord, recordId, storeRecord } from './home-record.ts';

export interface Approval {
  /** Of the list as it was approved. */
  readonly hash: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** True from before the first of its deletions on: what is left of the list is another list with another hash. */
  readonly begun: boolean;
  readonly uids: ReadonlySet<string>;
}

export interface Approvals {
  readonly all: readonly Approval[];
  /** As it was read: whoever writes afterwards moves its resourceVersion. */
  readonly stored: KubeObject | undefined;
}

/** What is approved, as far as an approval needs it. */
export interface Approvable {
  readonly hash: string;
  readonly deletions: readonly { readonly uid: string; readonly replaced?: true }[];
}

const PURPOSE = 'approval';

export async function readApprovals(cluster: Pick<Cluster, 'get'>, home: InstanceName): Promise<Approvals> {
  const stored = await readRecord(cluster, home, PURPOSE);
  const data = isObject(stored?.data) ? stored.data : {};
  return { all: Object.entries(data).flatMap(([hash, text]) => parseApproval(hash, String(text)) ?? []), stored };
}

/** What a person has spoilt approves nothing. */
function parseApproval(hash: string, text: string): Approval | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { expiresAt, begunAt, uids } = value;
  if (typeof expiresAt !== 'string' || !Array.isArray(uids) || Number.isNaN(Date.parse(expiresAt))) return undefined;
  return { hash, expiresAt, begun: begunAt !== undefined, uids: new Set(uids.map(String)) };
}

/** Who lets an object go for good lets it be replaced, too; but not the other way round. */
function lineOf({ uid, replaced }: Approvable['deletions'][number]): string {
  return replaced === true ? `${uid} replaced` : uid;
}

/** Whether it was given for this very list, or for one of which this is what a killed run has left. */
export function approves({ hash, begun, uids }: Approval, list: Approvable): boolean {
  if (hash === list.hash) return true;
  return (
    begun && list.deletions.length > 0 && list.deletions.every((each) => uids.has(each.uid) || uids.has(lineOf(each)))
  );
}

export function isExpired({ expiresAt }: Approval, clock: Pick<Clock, 'now'>): boolean {
  return clock.now() >= Date.parse(expiresAt);
}

/** Beside those of other lists. Throws Failure `cluster-conflict` where somebody approves at the same moment. */
export async function storeApproval(
  {
    cluster,
    clock,
  }: { readonly cluster: Pick<Cluster, 'get' | 'create' | 'replace'>; readonly clock: Pick<Clock, 'now'> },
  home: InstanceName,
  list: Approvable,
  expiresAt: string,
): Promise<void> {
  const { all, stored } = await readApprovals(cluster, home);
  const others = all.filter((each) => each.hash !== list.hash && !isExpired(each, clock)).map(({ hash }) => hash);
  const entry = JSON.stringify({ expiresAt, uids: list.deletions.map(lineOf) });
  const data = { ...keptEntries(stored, others), [list.hash]: entry };
  await storeRecord(cluster, recordId(home, PURPOSE), stored, { data });
}

function keptEntries(stored: KubeObject | undefined, hashes: readonly string[]): Record<string, string> {
  const data = isObject(stored?.data) ? stored.data : {};
  return Object.fromEntries(hashes.map((hash) => [hash, String(data[hash])]));
}

/** Before the first deletion. Throws Failure `cluster-conflict` where an approval was given or taken since they were read. */
export async function beginApproved(
  { cluster, clock }: { readonly cluster: Pick<Cluster, 'replace'>; readonly clock: Pick<Clock, 'now'> },
  { all, stored }: Approvals,
  begun: ReadonlySet<string>,
): Promise<Approvals> {
  const fresh = all.filter((each) => begun.has(each.hash) && !each.begun);
  if (stored === undefined || fresh.length === 0) return { all, stored };
  const begunAt = new Date(clock.now()).toISOString();
  const marked = fresh.map(({ hash, expiresAt, uids }) => [
    hash,
    JSON.stringify({ expiresAt, begunAt, uids: [...uids] }),
  ]);
  const data = { ...(isObject(stored.data) ? stored.data : {}), ...Object.fromEntries(marked) };
  return {
    all: all.map((each) => (begun.has(each.hash) ? { ...each, begun: true } : each)),
    stored: await cluster.replace({ ...stored, data }),
  };
}

/** After the last deletion. What somebody approved meanwhile stays; what else the world refuses is returned. */
export async function spendApprovals(
  cluster: Pick<Cluster, 'replace'>,
  { all, stored }: Approvals,
  spent: ReadonlySet<string>,
): Promise<readonly Failure[]> {
  if (stored === undefined || spent.size === 0) return [];
  const left = all.filter(({ hash }) => !spent.has(hash)).map(({ hash }) => hash);
  try {
    await cluster.replace({ ...stored, data: keptEntries(stored, left) });
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code === 'cluster-conflict' || error.code === 'cluster-not-found' ? [] : [error];
  }
}
