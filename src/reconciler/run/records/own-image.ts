// Stores the image of the reconciler itself, by its digest, which workloads run if skep.yaml names no other. Only a
// process in the cluster can learn it, and every other process of the instance reads it here.

import { isObject } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import { readRecord, recordId, storeRecord } from './home-record.ts';

export interface OwnImage {
  /** A reference with a digest. */
  readonly image: string;
  /** Release of the image. */
  readonly release: string;
}

const PURPOSE = 'image';

/**
 * Returns undefined if no process in the cluster has stored it. Throws Failure `record-of-newer-release`, and failures
 * of reading.
 */
export async function readOwnImage(cluster: Pick<Cluster, 'get'>, home: InstanceName): Promise<OwnImage | undefined> {
  const fields = (await readRecord(cluster, home, PURPOSE))?.data;
  const { image, release } = isObject(fields) ? fields : {};
  return typeof image === 'string' && typeof release === 'string' ? { image, release } : undefined;
}

/** Writes only if the image differs. Throws Failure `cluster-conflict` if another writer was faster. */
export async function storeOwnImage(
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  home: InstanceName,
  { image, release }: OwnImage,
): Promise<void> {
  const stored = await readRecord(cluster, home, PURPOSE);
  const known = isObject(stored?.data) ? stored.data : {};
  if (known.image === image && known.release === release) return;
  await storeRecord(cluster, recordId(home, PURPOSE), stored, { data: { image, release } });
}
