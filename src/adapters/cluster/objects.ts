// Distinguishes Kubernetes objects from other JSON.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';

export function isKubeObject(value: unknown): value is KubeObject {
  if (!isObject(value) || !isObject(value.metadata)) return false;
  const { apiVersion, kind, metadata } = value;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata.name === 'string';
}
