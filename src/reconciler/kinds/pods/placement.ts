// Adds node selectors and tolerations of the instance's configuration to every generated pod, and adapts the pods to
// OpenShift.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KindSettings } from '../kind.ts';
import { CONTAINER_SECURITY, POD_SECURITY } from './pod.ts';

/** Merges both node selectors by key; keys of the pod take precedence. Tolerations of the pod come first. */
export function withPlacement(child: KubeObject, { pods }: KindSettings): KubeObject {
  const spec = isObject(child.spec) ? child.spec : {};
  const template = isObject(spec.template) ? spec.template : {};
  if (pods === undefined || !isObject(template.spec)) return child;
  const ids = pods.platform === 'openshift' ? withoutIds(template.spec) : template.spec;
  const pod = { ...ids, ...nodes(ids.nodeSelector, pods), ...tolerations(ids.tolerations, pods) };
  return { ...child, spec: { ...spec, template: { ...template, spec: pod } } };
}

type Pods = NonNullable<KindSettings['pods']>;

function nodes(own: Json | undefined, { nodeSelector }: Pods): JsonObject {
  const all = { ...nodeSelector, ...(isObject(own) ? own : {}) };
  return Object.keys(all).length === 0 ? {} : { nodeSelector: all };
}

function tolerations(own: Json | undefined, pods: Pods): JsonObject {
  const all = [...(Array.isArray(own) ? own : []), ...pods.tolerations];
  return all.length === 0 ? {} : { tolerations: all };
}

/**
 * Removes skep's default user and group ids from a pod. OpenShift assigns ids to each namespace, and refuses pods with
 * other ids.
 */
function withoutIds(pod: JsonObject): JsonObject {
  const lists = ['containers', 'initContainers'] as const;
  const containers = lists.flatMap((list): [string, Json][] => {
    const items = pod[list];
    return Array.isArray(items)
      ? [[list, items.filter(isObject).map((item) => secured(item, CONTAINER_SECURITY))]]
      : [];
  });
  return { ...secured(pod, POD_SECURITY), ...Object.fromEntries(containers) };
}

/** Removes ids that equal skep's defaults. Other ids stay, because the author set them. */
function secured(owner: JsonObject, defaults: JsonObject): JsonObject {
  if (!isObject(owner.securityContext)) return owner;
  const kept = Object.entries(owner.securityContext).filter(([key, value]) => !isId(key) || value !== defaults[key]);
  return { ...owner, securityContext: Object.fromEntries(kept) };
}

function isId(key: string): boolean {
  return key === 'runAsUser' || key === 'runAsGroup' || key === 'fsGroup';
}
