// Sets the marks of an instance on the objects that it owns, and reads them back.

import { createHash } from 'node:crypto';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { sha256 } from '#std/hash.ts';

/** Membership in our ApplySet (KEP-3659): only objects with this label may ever be deleted. */
export const PART_OF = 'applyset.kubernetes.io/part-of';
/** Configured source that declared the object, or its owner. */
export const SOURCE = 'skep.dev/source';
/** Label of children: `kind.name` of their custom resource. */
export const OWNER = 'skep.dev/owner';
/** Annotation: the run that created the object, by which it is recognised if its uid is not recorded yet. */
export const RUN = 'skep.dev/run';
/** Annotation: an object that has it with the value `disabled` is never deleted. */
export const PRUNE = 'skep.dev/prune';
/** Annotation: an object that has it with the value `allowed` in its manifest may be replaced, with its children. */
export const REPLACE = 'skep.dev/replace';
/** Annotation: an object that has it with the value `disabled` is left alone, and so are its children. */
export const RECONCILE = 'skep.dev/reconcile';
/** Annotation: fields that the manifest declares and that others may set to other values. */
export const IGNORE_FIELDS = 'skep.dev/ignore-fields';
/** Annotation of children: the signers of their images, and the documents about them that their registry has. */
export const SIGNED_IMAGES = 'skep.dev/signed-images';

const LABEL_VALUE_MAX = 63;

/** Returns `text` as a label value if it fits, else its start and a digest of the whole. */
export function labelValue(text: string): string {
  if (text.length <= LABEL_VALUE_MAX) return text;
  return `${text.slice(0, LABEL_VALUE_MAX - 11).replace(/[^A-Za-z0-9]+$/, '')}-${sha256(text).slice(0, 10)}`;
}

/** Returns the value of the owner label, which is unique within a namespace. */
export function ownerLabel(kind: string, name: string): string {
  return labelValue(`${kind.toLowerCase()}.${name}`);
}

export function fieldManager(instance: string): string {
  return `skep-${instance}`;
}

/**
 * Returns true if the field manager is that of another instance. The manager of `skep trigger` only requests a sync.
 */
export function isOtherInstance(manager: string, own: string): boolean {
  return manager.startsWith('skep-') && manager !== own && !manager.endsWith('-trigger');
}

/** Returns the id of the ApplySet whose parent is the instance's ConfigMap (KEP-3659: name, namespace, kind, group). */
export function applySetId(instance: string, homeNamespace: string): string {
  const identity = `${fieldManager(instance)}.${homeNamespace}.ConfigMap.`;
  return `applyset-${createHash('sha256').update(identity).digest('base64url')}-v1`;
}

/** Returns a copy with the labels set; other labels stay. */
export function withLabels(object: KubeObject, labels: Record<string, string>): KubeObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
}

export function labelOf(object: KubeObject, label: string): string | undefined {
  return object.metadata.labels?.[label];
}

/** Returns true if the object is in the set of an instance other than the owner of `applySet`. */
export function isOfOtherSet(object: KubeObject, applySet: string): boolean {
  const set = labelOf(object, PART_OF);
  return set !== undefined && set !== applySet;
}
