// Reads values from ConfigMaps and Secrets by key.

import { isObject } from '#std/json.ts';
import type { KubeObject } from './object.ts';

export function hasEntry(object: KubeObject, key: string): boolean {
  return [object.data, object.binaryData, object.stringData].some((each) => isObject(each) && each[key] !== undefined);
}

/** Returns undefined if the ConfigMap does not exist or has no text under the key. */
export function configMapText(configMap: KubeObject | undefined, key: string): string | undefined {
  const text = isObject(configMap?.data) ? configMap.data[key] : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Returns undefined if the ConfigMap does not exist or lacks the key. */
export function configMapBytes(configMap: KubeObject | undefined, key: string): Buffer | undefined {
  const text = configMapText(configMap, key);
  if (text !== undefined) return Buffer.from(text, 'utf8');
  const encoded = isObject(configMap?.binaryData) ? configMap.binaryData[key] : undefined;
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : undefined;
}

/**
 * Returns undefined if the Secret does not exist or lacks the key. `stringData`, which only manifests have, takes
 * precedence, because the API server writes it over `data`.
 */
export function secretBytes(secret: KubeObject | undefined, key: string): Buffer | undefined {
  const plain = isObject(secret?.stringData) ? secret.stringData[key] : undefined;
  if (typeof plain === 'string') return Buffer.from(plain, 'utf8');
  const encoded = isObject(secret?.data) ? secret.data[key] : undefined;
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : undefined;
}
