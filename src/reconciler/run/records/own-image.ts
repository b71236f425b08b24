// Stores the image of the reconciler with its digest. Workloads use this image unless skep.yaml names another image.
// Only a process in the cluster can determine the image. All other processes of the instance read the stored image.

import { isObject } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import { readRecord, recordId, storeRecord } from './home-record.ts';

export interface OwnImage {
  /** Image name with digest. */
  readonly image: string;
  readonly release: string;
}

const PURPOSE = 'image';

/**
 * Returns the image; undefined if no process in the cluster has stored it. Throws Failure `record-of-newer-release`,
 * and failures of reading.
 */
export async function readOwnImage(cluster: Pick<Cluster, 'get'>, home: InstanceName): Promise<OwnImage | undefined> {
  const fields = (await readRecord(cluster, home, PURPOSE))?.data;
  const { image, release } = isObject(fields) ? fields : {};
  return typeof image === 'string' && typeof release === 'string' ? { image, release } : undefined;
}

/**
 * Stores the image if it differs from the stored image. Throws Failure `cluster-conflict` if another writer was faster.
 */
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
