// Which rights a request to an API server needs.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { rightsOf, rulesOf } from './account.ts';

/** As the API server names what a request asks for (Kubernetes, "Authorization", request attributes). */
export function rightsUsed({
  method,
  url,
  status,
}: {
  method: string;
  url: string;
  status: number | undefined;
}): string[] {
  const [, core, group = core, rest = ''] =
    /^\/(?:api\/(v1)|apis\/([^/]+)\/[^/]+)\/(.+)$/.exec(url.split('?')[0] ?? '') ?? [];
  if (group === undefined) return [];
  const segments = rest.split('/');
  const [resource, name, below] = segments[0] === 'namespaces' && segments.length > 2 ? segments.slice(2) : segments;
  const what = `${group === 'v1' ? '' : group}/${resource}${below === undefined ? '' : `/${below}`}`;
  const verbs = {
    GET: [name === undefined ? 'list' : 'get'],
    POST: ['create'],
    PUT: ['update'],
    PATCH: status === 201 ? ['patch', 'create'] : ['patch'],
    DELETE: ['delete'],
  }[method];
  return (verbs ?? []).flatMap((verb) => [
    `${verb} ${what}`,
    ...(name === undefined ? [] : [`${verb} ${what} ${name}`]),
  ]);
}

/**
 * What would go along with a namespace whose name begins so is looked for, of kinds of others too: no role names them, and
 * what may not be listed counts as there.
 */
export function isOfOthers(
  seen: Parameters<typeof rightsUsed>[0],
  roles: readonly KubeObject[],
  namespaces: string,
): boolean {
  const named = new Set(roles.flatMap((role) => rulesOf(role).flatMap(rightsOf)));
  const isWithin = seen.url.includes(`/namespaces/${namespaces}-`);
  return isWithin && rightsUsed(seen).every((right) => right.startsWith('list ') && !named.has(right));
}
