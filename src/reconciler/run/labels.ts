// The marks an instance puts on what it owns, and how they are read back.

import { createHash } from 'node:crypto';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { sha256 } from '#std/hash.ts';

/** Membership in our ApplySet (KEP-3659): the only objects we may ever delete carry it. */
export const PART_OF = 'applyset.kubernetes.io/part-of';
/** The configured source that declared the object, or its owner. */
export const SOURCE = 'skep.dev/source';
/** On children: `kind.name` of the custom resource they belong to. */
export const OWNER = 'skep.dev/owner';
/** An annotation: the run that has created the object, by which it is known where its uid is not recorded yet. */
export const RUN = 'skep.dev/run';
/** An annotation: what has it with the value `disabled` is never deleted. */
export const PRUNE = 'skep.dev/prune';
/** An annotation: what has it with the value `allowed` in its manifest may be replaced, with its children. */
export const REPLACE = 'skep.dev/replace';
/** An annotation: what has it with the value `disabled` is left alone, and so are its children. */
export const RECONCILE = 'skep.dev/reconcile';
/** An annotation: fields that its manifest declares and that others may set to something else. */
export const IGNORE_FIELDS = 'skep.dev/ignore-fields';
/** Annotation of children: who signed their images, and which documents about them their registry has. */
export const SIGNED_IMAGES = 'skep.dev/signed-images';

const LABEL_VALUE_MAX = 63;

/** A label value that is `text` where it fits, else its start and a digest of the whole. */
export function labelValue(text: string): string {
  if (text.length <= LABEL_VALUE_MAX) return text;
  return `${text.slice(0, LABEL_VALUE_MAX - 11).replace(/[^A-Za-z0-9]+$/, '')}-${sha256(text).slice(0, 10)}`;
}

/** Value of the owner label; unique within a namespace. */
export function ownerLabel(kind: string, name: string): string {
  return labelValue(`${kind.toLowerCase()}.${name}`);
}

export function fieldManager(instance: string): string {
  return `skep-${instance}`;
}

/** Whether a field manager is that of another instance; the one of `skep trigger` only asks for a sync. */
export function isOtherInstance(manager: string, own: string): boolean {
  return manager.startsWith('skep-') && manager !== own && !manager.endsWith('-trigger');
}

/** Id of the ApplySet whose parent is the instance's ConfigMap (KEP-3659: name, namespace, kind, group). */
export function applySetId(instance: string, homeNamespace: string): string {
  const identity = `${fieldManager(instance)}.${homeNamespace}.ConfigMap.`;
  return `applyset-${createHash('sha256').update(identity).digest('base64url')}-v1`;
}

/** A copy with the labels set; other labels stay. */
export function withLabels(object: KubeObject, labels: Record<string, string>): KubeObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
}

export function labelOf(object: KubeObject, label: string): string | undefined {
  return object.metadata.labels?.[label];
}

/** Whether it is in the set of another instance than that whose ApplySet is named. */
export function isOfOtherSet(object: KubeObject, applySet: string): boolean {
  const set = labelOf(object, PART_OF);
  return set !== undefined && set !== applySet;
}
