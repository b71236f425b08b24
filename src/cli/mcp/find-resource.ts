// Finds an object of the instance by a name that the caller may have shortened.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { Explanation } from '#reconciler/run/plan/explain.ts';
import { didYouMean } from '#std/closest.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';

export const RESOURCE_NAME: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 600,
  pattern: '^[^\\s/]+(/[^\\s/]+){0,2}$',
  description: 'NAMESPACE/KIND/NAME, KIND/NAME or NAME of an object of this instance, such as docs/MCPServer/wiki.',
};

const NAMED_MAX = 10;

/** Returns the object. Custom resources take precedence over children. Throws Failure `mcp-resource-unknown`. */
export function findResource(all: readonly Explanation[], name: string): Explanation {
  const exact = all.find(({ resource }) => formatId(resource) === name);
  if (exact !== undefined) return exact;
  const found = all.filter(({ resource }) => endsWith(formatId(resource), name));
  const roots = found.filter(({ owner }) => owner === undefined);
  const candidates = roots.length > 0 ? roots : found;
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return only;
  const message =
    only === undefined
      ? `this instance has no object "${name}".${didYouMean(name, idsOf(all))}`
      : `several objects are called "${name}": ${idsOf(candidates).slice(0, NAMED_MAX).join(', ')}`;
  throw new Failure('mcp-resource-unknown', message);
}

function idsOf(all: readonly Explanation[]): readonly string[] {
  return all.map(({ resource }) => formatId(resource));
}

export function childrenOf(all: readonly Explanation[], resource: ResourceId): readonly Explanation[] {
  const key = keyOf(resource);
  return all.filter(({ owner }) => owner !== undefined && keyOf(owner) === key);
}

function endsWith(id: string, name: string): boolean {
  return `/${id}`.toLowerCase().endsWith(`/${name.toLowerCase()}`);
}
