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
/**
 * Annotation with the run that created the object. The run recognises the object by it if its uid is not recorded yet.
 */
export const RUN = 'skep.dev/run';
/** Annotation with the value `disabled` on objects that are never deleted. */
export const PRUNE = 'skep.dev/prune';
/** Annotation with the value `allowed` in manifests of objects that may be replaced, with their children. */
export const REPLACE = 'skep.dev/replace';
/** Annotation with the value `disabled` on objects that are left alone, with their children. */
export const RECONCILE = 'skep.dev/reconcile';
/** Annotation with the fields that the manifest declares and that other managers may set to other values. */
export const IGNORE_FIELDS = 'skep.dev/ignore-fields';
/** Annotation of children with the signers of their images, and the documents about the images in their registry. */
export const SIGNED_IMAGES = 'skep.dev/signed-images';

const LABEL_VALUE_MAX = 63;

/** Returns `text` as a label value if it fits, else the start and a digest of the whole text. */
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
 * Returns true if the field manager belongs to another instance. The manager of `skep trigger` is not an instance: it
 * only requests a sync.
 */
export function isOtherInstance(manager: string, own: string): boolean {
  return manager.startsWith('skep-') && manager !== own && !manager.endsWith('-trigger');
}

/** Returns the id of the ApplySet whose parent is the instance's ConfigMap (KEP-3659: name, namespace, kind, group). */
export function applySetId(instance: string, homeNamespace: string): string {
  const identity = `${fieldManager(instance)}.${homeNamespace}.ConfigMap.`;
  return `applyset-${createHash('sha256').update(identity).digest('base64url')}-v1`;
}

/** Returns a copy with the given labels. Existing labels stay. */
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
