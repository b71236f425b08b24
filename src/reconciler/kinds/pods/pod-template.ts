// Finds mistakes in the author's pod template, and merges it into the generated template.

import assert from 'node:assert/strict';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { keyType, type MergeType, rootType } from '#kubernetes/rules/openapi.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { namedPatchType, strategicMerge } from '#kubernetes/rules/strategic.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { didYouMean } from '#std/closest.ts';
import { digest } from '#std/hash.ts';
import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { LABEL_DOMAIN } from '../labels.ts';

/**
 * Merges the author's template into the generated template by a strategic merge. Fields of the author take precedence,
 * and lists merge by their keys.
 */
export function withPodTemplate(template: JsonObject, patch: JsonObject | undefined): JsonObject {
  if (patch === undefined) return template;
  const schema = namedPatchType(apps(), 'io.k8s.api.core.v1.PodTemplateSpec');
  assert(schema !== undefined, 'the bundled schemas know how pod templates merge');
  return strategicMerge(template, patch, schema).value;
}

/** Returns the workload's annotation with a digest of the author's template. */
export function podTemplateHash(patch: JsonObject | undefined): { readonly annotations?: Record<string, string> } {
  return patch === undefined ? {} : { annotations: { [`${LABEL_DOMAIN}/podtemplatespec-hash`]: digest(patch) } };
}

/**
 * Returns whether the author's template has a preStop hook for the container. skep then renders no preStop hook,
 * because an API server refuses two handlers.
 */
export function hasOwnHook(patch: JsonObject | undefined, container: string): boolean {
  const { containers } = isObject(patch?.spec) ? patch.spec : {};
  const own = Array.isArray(containers)
    ? containers.filter(isObject).find(({ name }) => name === container)
    : undefined;
  return isObject(own?.lifecycle) && own.lifecycle.preStop !== undefined;
}

/**
 * Returns a finding `invalid-pod-template` for each mistake in the template that Kubernetes would refuse. `pointer`:
 * pointer of the template.
 */
export function podTemplateFindings(patch: JsonObject | undefined, pointer: string): readonly Finding[] {
  if (patch === undefined) return [];
  const schema = namedPatchType(apps(), 'io.k8s.api.core.v1.PodTemplateSpec');
  const merging = strategicMerge({}, patch, schema).findings.map((finding) => {
    const at = `${pointer}${finding.pointer}`;
    return { ...finding, code: 'invalid-pod-template', pointer: at, message: `${fieldPath(at)}: ${finding.message}` };
  });
  return [...shapeFindings(patch, podTemplateType(), pointer), ...merging];
}

/**
 * Finds fields that Kubernetes would refuse in a part of a pod template. `path`: field names from the template to the
 * part, and an empty string for each list.
 */
export function podPartFindings(value: Json, path: readonly string[], pointer: string): readonly Finding[] {
  const type = path.reduce<MergeType | undefined>(
    (at, name) => (name === '' ? at?.list?.item() : at?.map?.fields.get(name)?.type()),
    podTemplateType(),
  );
  assert(type !== undefined, `the bundled schemas know ${path.join('.')} of pod templates`);
  return shapeFindings(value, type, pointer);
}

function apps() {
  const document = bundledSchema('apps/v1');
  assert(document !== undefined, 'the schema of apps/v1 is bundled');
  return document;
}

function podTemplateType(): MergeType {
  const deployment = rootType(apps(), { group: 'apps', version: 'v1', kind: 'Deployment' });
  const template = deployment?.map?.fields.get('spec')?.type().map?.fields.get('template')?.type();
  assert(template !== undefined, 'the bundled schemas know pod templates');
  return template;
}

function shapeFindings(value: Json, type: MergeType, pointer: string): readonly Finding[] {
  if (value === null) return [];
  const { map, list, scalar } = type;
  if (isObject(value)) return map === undefined ? [mismatch(type, pointer)] : mapFindings(value, map, pointer);
  if (!Array.isArray(value)) {
    const fits = scalar !== undefined && (scalar.value === 'any' || scalar.value === typeof value);
    return fits ? [] : [mismatch(type, pointer)];
  }
  if (list === undefined) return [mismatch(type, pointer)];
  return value.flatMap((item, index) => shapeFindings(item, list.item(), `${pointer}/${index}`));
}

function mapFindings(value: JsonObject, map: NonNullable<MergeType['map']>, pointer: string): readonly Finding[] {
  return Object.entries(value).flatMap(([key, child]): readonly Finding[] => {
    if (child === undefined || key.startsWith('$')) return [];
    const at = `${pointer}/${pointerToken(key)}`;
    const type = keyType(map, key);
    if (type !== undefined) return shapeFindings(child, type, at);
    const message = `${fieldPath(pointer)} has no field "${key}".${didYouMean(key, map.fields.keys())}`;
    return [{ code: 'invalid-pod-template', severity: 'error', pointer: at, message, at: 'key' }];
  });
}

function mismatch({ map, list, scalar }: MergeType, pointer: string): Finding {
  const value = scalar?.value === 'any' ? 'a plain value' : `a ${scalar?.value}`;
  const expected = map !== undefined ? 'an object' : list !== undefined ? 'a list' : value;
  const message = `${fieldPath(pointer)} must be ${expected}.`;
  return { code: 'invalid-pod-template', severity: 'error', pointer, message };
}
