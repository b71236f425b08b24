// Implements the server's special case for `kubectl apply`. If the annotation shows a client-side apply, a server-side
// apply takes over its fields without conflicts and updates the annotation.

import { isObject, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../object.ts';
import type { MergeType } from '../../openapi.ts';
import { changesBetween } from '../changes.ts';
import { difference, paths, union } from '../fieldset.ts';
import { goJson } from '../go-json.ts';
import { fieldsOf } from '../owned.ts';
import { serverPath } from '../place.ts';

/** kubectl's default field manager, the only one with this special case. */
export const KUBECTL = 'kubectl';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns the paths (as in conflicts) whose live value equals the value that kubectl applied on the client side. */
export function appliedByClient(live: KubeObject, type: MergeType, apiVersion: string): ReadonlySet<string> {
  const text = live.metadata.annotations?.[ANNOTATION];
  const applied = text === undefined ? undefined : parseObject(text);
  if (applied?.apiVersion !== apiVersion) return new Set();
  const { set, misfits } = fieldsOf(applied as KubeObject, type);
  if (misfits.length > 0) return new Set();
  const { added, modified, removed } = changesBetween(applied, live as JsonObject, type);
  return new Set(paths(difference(set, union(union(added, modified), removed))).map(serverPath));
}

/** Updates the annotation to the applied configuration. An object without the annotation is returned unchanged. */
export function withLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  if (!annotations?.[ANNOTATION]) return object;
  const text = `${goJson(withoutAnnotation(applied))}\n`;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [ANNOTATION]: text } } };
}

function withoutAnnotation(applied: KubeObject): KubeObject {
  const { annotations } = applied.metadata;
  if (annotations === undefined) return applied;
  const { [ANNOTATION]: _, ...others } = annotations;
  return { ...applied, metadata: { ...applied.metadata, annotations: others } };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
