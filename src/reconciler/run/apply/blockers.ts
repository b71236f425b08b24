// Finds the failed object that prevents a later change of the same run.

import { groupOf, keyOf } from '#kubernetes/rules/object.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { Change } from '../plan/plan.ts';

/** Returns the failed object as text; undefined if the change depends on no failed object. */
export function blockerOf(change: Change, failed: ReadonlyMap<string, ResourceId>): string | undefined {
  if (change.action === 'delete') {
    const referrer = change.referrers.find((each) => failed.has(keyOf(each)));
    if (referrer !== undefined) return formatId(referrer);
    return replacementOf(change.resource, failed) ?? inhabitantOf(change.resource, failed);
  }
  if (change.owner !== undefined && failed.has(keyOf(change.owner))) return formatId(change.owner);
  const { namespace } = change.resource;
  if (namespace === undefined) return undefined;
  const id = { apiVersion: 'v1', kind: 'Namespace', name: namespace };
  return failed.has(keyOf(id)) ? formatId(id) : undefined;
}

/**
 * Returns a failed object that the deletion of a namespace or definition would also delete. The name of a definition
 * ends with its API group.
 */
function inhabitantOf(going: ResourceId, failed: ReadonlyMap<string, ResourceId>): string | undefined {
  const isNamespace = going.apiVersion === 'v1' && going.kind === 'Namespace';
  const isDefinition = going.kind === 'CustomResourceDefinition';
  if (!isNamespace && !isDefinition) return undefined;
  const found = [...failed.values()].find(({ apiVersion, namespace }) =>
    isNamespace ? namespace === going.name : going.name.endsWith(`.${groupOf(apiVersion)}`),
  );
  return found === undefined ? undefined : formatId(found);
}

/**
 * Returns a failed object of the same kind and name in another namespace. A moved object is deleted only after the
 * object in the new namespace was written.
 */
function replacementOf(going: ResourceId, failed: ReadonlyMap<string, ResourceId>): string | undefined {
  const group = groupOf(going.apiVersion);
  const replacement = [...failed.values()].find(
    ({ apiVersion, kind, name }) => groupOf(apiVersion) === group && kind === going.kind && name === going.name,
  );
  return replacement === undefined ? undefined : formatId(replacement);
}
