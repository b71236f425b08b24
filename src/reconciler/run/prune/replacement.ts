// Finds objects that can only be changed by deleting and creating them again, and decides whether a run may do so.

import type { ReadContents } from '#kubernetes/rules/large-values.ts';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { Desired } from '../desire/desire.ts';
import type { Compared } from '../diff/compared.ts';
import { sendWhole } from '../diff/send-whole.ts';
import { labelOf, PART_OF, REPLACE } from '../labels.ts';
import type { Cluster } from '../ports.ts';
import type { LoadedResource } from '../read/load.ts';
import { protectionOf } from './left-alone.ts';

interface Probe {
  /** User to impersonate in the dry run. */
  readonly as?: string;
  readonly living: (id: ResourceId) => KubeObject | undefined;
}

/**
 * Returns the immutable fields as text; undefined if the server refuses the change for another reason. The texts of
 * refusals differ by kind, so a dry run decides. Fields are immutable if a refusal names them, and the server would
 * create the same object under another name.
 */
export async function findImmutableFields(
  cluster: Pick<Cluster, 'apply'>,
  { living, as }: Probe,
  { desired }: Compared,
  failure: Failure,
): Promise<string | undefined> {
  const refused = fieldsRefused(failure);
  if (refused === undefined) return undefined;
  const another = underFreeName(desired.object, living);
  if (another === undefined || !(await isAccepted(cluster, another, desired.contents, as))) return undefined;
  return [...new Set(refused.map(({ field }) => field))].join(', ');
}

/** A field that a refusal names as its cause. */
export interface RefusedField {
  /** Path such as `spec.template.spec.volumes[0].configMap`. */
  readonly field: string;
  /** True if the server forbids the field (reason `FieldValueForbidden`), for example together with other fields. */
  readonly forbidden: boolean;
}

/**
 * Returns the fields that a refusal names. undefined if the refusal names no field, or also has a cause without a
 * field, such as a policy.
 */
export function fieldsRefused({ code, data }: Failure): readonly RefusedField[] | undefined {
  const causes = Array.isArray(data.causes) ? data.causes.filter(isObject) : [];
  const fields = causes.flatMap(({ field, reason }) =>
    typeof field === 'string' && field !== '' ? [{ field, forbidden: reason === 'FieldValueForbidden' }] : [],
  );
  if (code !== 'cluster-invalid' || data.status !== 422 || fields.length === 0) return undefined;
  return fields.length < causes.length ? undefined : fields;
}

async function isAccepted(
  cluster: Pick<Cluster, 'apply'>,
  object: KubeObject,
  contents: ReadContents | undefined,
  as: string | undefined,
): Promise<boolean> {
  try {
    await sendWhole(object, contents, (whole) => cluster.apply(whole, { dryRun: true, force: true, as }));
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Returns the object with an unused name. Only the last character of the name changes, so the name stays valid. */
function underFreeName(object: KubeObject, living: Probe['living']): KubeObject | undefined {
  const { name } = object.metadata;
  const names = [...'abcdefghijklmnopqrstuvwxyz'].map((last) => name.slice(0, -1) + last);
  const free = names.find((each) => each !== name && living({ ...idOf(object), name: each }) === undefined);
  return free === undefined ? undefined : { ...object, metadata: { ...object.metadata, name: free } };
}

export interface BarInput {
  readonly loaded: readonly LoadedResource[];
  readonly applySet: string;
  readonly applied: (object: KubeObject) => boolean;
  readonly prune: boolean;
}

/**
 * Returns a function that says why an object must not be replaced and how to allow it; undefined if the replacement is
 * allowed.
 */
export function replaceBars({
  loaded,
  applySet,
  applied,
  prune,
}: BarInput): (compared: Compared) => string | undefined {
  const allowed = new Set(loaded.filter(({ object }) => isAllowed(object)).map(({ id }) => keyOf(id)));
  return ({ desired, live }) => {
    const { id, owner } = desired;
    if (KEPT_KINDS.has(id.kind)) return 'that would delete all that is in it, so it is never done';
    if (owner !== undefined && id.kind === 'PersistentVolumeClaim')
      return 'that would delete data, so it is never done';
    if (live === undefined || labelOf(live, PART_OF) !== applySet || !applied(live))
      return 'it does not belong to this instance';
    const protection = protectionOf(live);
    if (protection !== undefined) return `it has ${protection}`;
    if (!prune) return 'apply.prune is false';
    return allowed.has(keyOf(owner ?? id)) ? undefined : howToAllow(desired);
  };
}

function howToAllow({ owner }: Desired): string {
  const where = owner === undefined ? 'its manifest' : `the manifest of ${formatId(owner)}`;
  return `put the annotation ${REPLACE}: allowed into ${where}, and it is deleted and created again`;
}

function isAllowed({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[REPLACE] === 'allowed';
}

const KEPT_KINDS: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition']);
