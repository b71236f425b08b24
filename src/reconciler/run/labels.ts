// Sets and reads the labels and annotations of an instance on the objects that it owns.

import { createHash } from 'node:crypto';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { sha256 } from '#std/hash.ts';

/** Label with the id of our ApplySet (KEP-3659). Objects without the label are never deleted. */
export const PART_OF = 'applyset.kubernetes.io/part-of';
/** Label with the source that declares the object or, for a child, the source that declares its owner. */
export const SOURCE = 'skep.dev/source';
/** Label of a child with its custom resource: `kind.name`. */
export const OWNER = 'skep.dev/owner';
/**
 * Annotation with the id of the run that created the object. If the inventory lacks the uid of the object, the next run
 * recognises the object by this annotation.
 */
export const RUN = 'skep.dev/run';
/** Annotation. An object with the value `disabled` is never deleted. */
export const PRUNE = 'skep.dev/prune';
/**
 * Annotation of a manifest. With the value `allowed`, a run may delete the object and its children, and create them
 * again.
 */
export const REPLACE = 'skep.dev/replace';
/** Annotation. With the value `disabled`, a run changes neither the object nor its children. */
export const RECONCILE = 'skep.dev/reconcile';
/** Annotation with the declared fields that other managers may set to other values. */
export const IGNORE_FIELDS = 'skep.dev/ignore-fields';
/** Annotation of a child with the signers of its images, and with the documents about the images in their registry. */
export const SIGNED_IMAGES = 'skep.dev/signed-images';

const LABEL_VALUE_MAX = 63;

/** Returns `text` as a label value. A text that is too long is cut, and ends with a digest of the whole text. */
export function labelValue(text: string): string {
  if (text.length <= LABEL_VALUE_MAX) return text;
  return `${text.slice(0, LABEL_VALUE_MAX - 11).replace(/[^A-Za-z0-9]+$/, '')}-${sha256(text).slice(0, 10)}`;
}

/** Returns the value of the owner label. It is unique within a namespace. */
export function ownerLabel(kind: string, name: string): string {
  return labelValue(`${kind.toLowerCase()}.${name}`);
}

export function fieldManager(instance: string): string {
  return `skep-${instance}`;
}

/**
 * Returns true if the field manager belongs to another instance. `skep trigger` has a manager but is not an instance:
 * it only requests a sync.
 */
export function isOtherInstance(manager: string, own: string): boolean {
  return manager.startsWith('skep-') && manager !== own && !manager.endsWith('-trigger');
}

/**
 * Returns the id of the ApplySet whose parent is the ConfigMap of the instance (KEP-3659: name, namespace, kind,
 * group).
 */
export function applySetId(instance: string, homeNamespace: string): string {
  const identity = `${fieldManager(instance)}.${homeNamespace}.ConfigMap.`;
  return `applyset-${createHash('sha256').update(identity).digest('base64url')}-v1`;
}

export function withLabels(object: KubeObject, labels: Record<string, string>): KubeObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
}

export function labelOf(object: KubeObject, label: string): string | undefined {
  return object.metadata.labels?.[label];
}

/** Returns true if the object is in the ApplySet of another instance than `applySet`. */
export function isOfOtherSet(object: KubeObject, applySet: string): boolean {
  const set = labelOf(object, PART_OF);
  return set !== undefined && set !== applySet;
}
