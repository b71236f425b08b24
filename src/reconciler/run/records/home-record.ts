// Reads and writes the records that an instance keeps in the cluster between its runs: ConfigMaps of its home
// namespace, one for each purpose.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { InstanceName } from '../instance.ts';
import { fieldManager } from '../labels.ts';
import { formatGroupKind, groupKindOf } from '../observe/snapshot.ts';
import type { Cluster } from '../ports.ts';

export type Purpose = 'approval' | 'history' | 'image' | 'inventory' | 'notified' | 'quarantine' | 'suspension';

/**
 * Suffixes of an instance's name for things of its own: records, and the field manager of `skep trigger`. An instance
 * whose own name ended with one of them would take them for its own.
 */
export const ADDED_TO_NAMES: readonly (Purpose | 'trigger')[] = [
  'approval',
  'history',
  'image',
  'inventory',
  'notified',
  'quarantine',
  'suspension',
  'trigger',
];

/** Maximum ConfigMaps of one purpose. The first has no number in its name. */
export const SHARDS_MAX = 16;
/** Maximum bytes of the text in one of them; the API server accepts a mebibyte, metadata included. */
export const SHARD_BYTES_MAX = 900_000;

/** Kinds of the objects that an instance keeps in its home: its records, its lease, its parent and its key. */
const RECORD_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'Lease.coordination.k8s.io']);

/** Records of any instance: other instances have homes of their own, and sources that are not ours. */
const OF_ANY_INSTANCE = new RegExp(`^${fieldManager('.+')}-(?:${ADDED_TO_NAMES.join('|')})(?:-\\d+)?$`);

/** Records must not be declared: an author of one could approve their own deletions, or know the key of digests. */
export function isRecord(
  { instance, homeNamespace }: InstanceName,
  { apiVersion, kind, namespace, name }: ResourceId,
): boolean {
  if (apiVersion === 'v1' && kind === 'ConfigMap' && OF_ANY_INSTANCE.test(name)) return true;
  if (namespace !== homeNamespace || !RECORD_KINDS.has(formatGroupKind(groupKindOf({ apiVersion, kind }))))
    return false;
  const own = fieldManager(instance);
  return name === own || ADDED_TO_NAMES.some((word) => name === `${own}-${word}`) || OF_ANY_INSTANCE.test(name);
}

/** Returns `skep-<instance>-<purpose>`, followed by `-<number>` for further shards. */
export function recordId(
  { instance, homeNamespace: namespace }: InstanceName,
  purpose: Purpose,
  shard = 0,
): ResourceId {
  const name = `${fieldManager(instance)}-${purpose}${shard === 0 ? '' : `-${shard}`}`;
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace, name };
}

/**
 * Names the format of a record. Without it, the format is that of the first release. Another format gets another
 * number.
 */
export const RECORD_VERSION = 'skep.dev/record-version';
const VERSION = '1';

/**
 * Returns undefined if there is no record. Throws Failure `record-of-newer-release`: an unknown format is not guessed
 * at, and not overwritten.
 */
export async function readRecord(
  cluster: Pick<Cluster, 'get'>,
  home: InstanceName,
  purpose: Purpose,
  shard = 0,
): Promise<KubeObject | undefined> {
  const id = recordId(home, purpose, shard);
  const stored = await cluster.get(id);
  const version = stored?.metadata.annotations?.[RECORD_VERSION] ?? VERSION;
  if (version === VERSION) return stored;
  const message = `${formatId(id)} is of version ${version}, and this skep reads version ${VERSION}: a newer release has written it`;
  throw new Failure('record-of-newer-release', message, { data: { name: id.name, version } });
}

/**
 * Replaces the record that was read; undefined if there was none. Throws Failure `cluster-conflict` if another writer
 * was faster.
 */
export async function storeRecord(
  cluster: Pick<Cluster, 'create' | 'replace'>,
  { apiVersion, kind, namespace, name }: ResourceId,
  stored: KubeObject | undefined,
  content: JsonObject,
  annotations: Readonly<Record<string, string>> = {},
): Promise<KubeObject> {
  if (stored === undefined) {
    const metadata = { name, namespace, annotations };
    return cluster.create({ apiVersion, kind, metadata, ...content });
  }
  const metadata = { ...stored.metadata, annotations: { ...stored.metadata.annotations, ...annotations } };
  return cluster.replace({ ...stored, metadata, ...content });
}
