// The approval of one exact list of deletions, kept in a ConfigMap of the home namespace until they are done: a run that
// was killed half way through finds it again. Knows nothing about limits or how deletions are made.

import type { KubeObject } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import { isObject } from '../../std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Clock, Cluster } from '../ports.ts';
import type { Guarded } from '../prune/guard.ts';
import { readRecord, recordId, storeRecord } from './home-record.ts';

export interface Approval {
  /** Of the list as it was approved. */
  readonly hash: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** True from before the first of its deletions on: what is left of the list is another list with another hash. */
  readonly begun: boolean;
  readonly uids: ReadonlySet<string>;
  /** As it was read: whoever writes afterwards moves its resourceVersion. */
  readonly stored: KubeObject;
}

const PURPOSE = 'approval';

/** Undefined where there is none, or what is there was spent. */
export async function readApproval(cluster: Pick<Cluster, 'get'>, home: InstanceName): Promise<Approval | undefined> {
  const stored = await readRecord(cluster, home, PURPOSE);
  return stored === undefined ? undefined : parseApproval(stored);
}

/** What a person has spoilt approves nothing. */
function parseApproval(stored: KubeObject): Approval | undefined {
  const data = isObject(stored.data) ? stored.data : {};
  const { hash, expiresAt, begunAt, uids } = data;
  if (typeof hash !== 'string' || typeof expiresAt !== 'string' || typeof uids !== 'string') return undefined;
  if (Number.isNaN(Date.parse(expiresAt))) return undefined;
  return { hash, expiresAt, begun: begunAt !== undefined, uids: new Set(uids.split('\n')), stored };
}

/** Who lets an object go for good lets it be replaced, too; but not the other way round. */
function lineOf({ uid, replaced }: Guarded['deletions'][number]): string {
  return replaced === true ? `${uid} replaced` : uid;
}

/** Whether it was given for this very list, or for one of which this is what a killed run has left. */
export function approves({ hash, begun, uids }: Approval, guarded: Guarded): boolean {
  if (hash === guarded.hash) return true;
  return begun && guarded.deletions.every((each) => uids.has(each.uid) || uids.has(lineOf(each)));
}

export function isExpired({ expiresAt }: Approval, clock: Pick<Clock, 'now'>): boolean {
  return clock.now() >= Date.parse(expiresAt);
}

/** In place of any earlier one. Throws Failure `cluster-conflict` where somebody approves at the same moment. */
export async function storeApproval(
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  home: InstanceName,
  guarded: Guarded,
  expiresAt: string,
): Promise<void> {
  const uids = guarded.deletions.map(lineOf).join('\n');
  const data = { hash: guarded.hash, expiresAt, uids };
  await storeRecord(cluster, recordId(home, PURPOSE), await readRecord(cluster, home, PURPOSE), { data });
}

/** Before the first deletion. Throws Failure `cluster-conflict` where the approval was replaced since it was read. */
export async function beginApproved(
  { cluster, clock }: { readonly cluster: Pick<Cluster, 'replace'>; readonly clock: Pick<Clock, 'now'> },
  approval: Approval,
): Promise<Approval> {
  if (approval.begun) return approval;
  const { stored } = approval;
  const data = { ...(isObject(stored.data) ? stored.data : {}), begunAt: new Date(clock.now()).toISOString() };
  return { ...approval, begun: true, stored: await cluster.replace({ ...stored, data }) };
}

/** After the last deletion. A later approval that took its place stays; what else the world refuses is returned. */
export async function spendApproval(
  cluster: Pick<Cluster, 'replace'>,
  { stored }: Approval,
): Promise<readonly Failure[]> {
  try {
    await cluster.replace({ ...stored, data: {} });
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code === 'cluster-conflict' || error.code === 'cluster-not-found' ? [] : [error];
  }
}
