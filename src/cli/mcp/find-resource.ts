// Finds the object that a caller names, among all objects of an instance.

import type { Explanation } from '#reconciler/run/plan/explain.ts';
import { didYouMean } from '#std/closest.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';

export const RESOURCE_NAME: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 600,
  pattern: '^[^\\s/]+(/[^\\s/]+){0,2}$',
  description: 'NAMESPACE/KIND/NAME, KIND/NAME or NAME of an object of this instance, such as docs/MCPServer/wiki.',
};

const NAMED_MAX = 10;

/** Prefers custom resources to their children. Throws Failure `mcp-resource-unknown`. */
export function findResource(all: readonly Explanation[], name: string): Explanation {
  const exact = all.find(({ resource }) => formatId(resource) === name);
  if (exact !== undefined) return exact;
  const found = all.filter(({ resource }) => endsWith(formatId(resource), name));
  const roots = found.filter(({ owner }) => owner === undefined);
  const [only, ...others] = roots.length > 0 ? roots : found;
  if (only !== undefined && others.length === 0) return only;
  const names = all.map(({ resource }) => formatId(resource));
  const few = [only, ...others].flatMap((each) => (each === undefined ? [] : [formatId(each.resource)]));
  const message =
    few.length === 0
      ? `this instance has no object "${name}".${didYouMean(name, names)}`
      : `several objects are called "${name}": ${few.slice(0, NAMED_MAX).join(', ')}`;
  throw new Failure('mcp-resource-unknown', message);
}

function endsWith(id: string, name: string): boolean {
  return `/${id}`.toLowerCase().endsWith(`/${name.toLowerCase()}`);
}
