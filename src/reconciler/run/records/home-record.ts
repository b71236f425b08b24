// Reads and writes the records that an instance keeps between its runs: ConfigMaps in its home namespace, by purpose.

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
 * Suffixes in the names of records and of the field manager of `skep trigger`. The name of an instance must not end in
 * such a suffix. Otherwise its objects could have the names of another instance's records.
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

/** Maximum number of ConfigMaps per purpose. The name of the first ConfigMap has no number. */
export const SHARDS_MAX = 16;
/** Maximum characters in one ConfigMap. The API server accepts 1 MiB including metadata. */
export const SHARD_BYTES_MAX = 900_000;

/** Kinds of the objects that an instance keeps in its home namespace: records, lease, ApplySet parent, and key. */
const RECORD_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'Lease.coordination.k8s.io']);

/**
 * Pattern for names of records of any instance. The pattern is applied in every namespace, because other instances may
 * have other home namespaces.
 */
const OF_ANY_INSTANCE = new RegExp(`^${fieldManager('.+')}-(?:${ADDED_TO_NAMES.join('|')})(?:-\\d+)?$`);

/**
 * Returns true for records. Sources must not declare records: their authors could approve deletions, or choose the key
 * of digests.
 */
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

/** Returns the id of a record: `skep-<instance>-<purpose>`, with `-<number>` for further ConfigMaps. */
export function recordId(
  { instance, homeNamespace: namespace }: InstanceName,
  purpose: Purpose,
  shard = 0,
): ResourceId {
  const name = `${fieldManager(instance)}-${purpose}${shard === 0 ? '' : `-${shard}`}`;
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace, name };
}

/** Annotation with the format of a record. A record without the annotation has the first format. */
export const RECORD_VERSION = 'skep.dev/record-version';
const VERSION = '1';

/**
 * Returns the record; undefined if it does not exist. Throws Failure `record-of-newer-release` for an unknown format,
 * so that the record is not overwritten.
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
 * Replaces the record `stored`, or creates it if `stored` is undefined. Throws Failure `cluster-conflict` if another
 * writer was faster.
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
