// Reads the resource, the object and the verb from the path and method of a request.

import type { Verb } from '../resources/resource-type.ts';

/** The segments of a path below `/api/v1` or `/apis/<group>/<version>`. */
export interface ResourcePath {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Absent for cluster-scoped kinds and for requests across all namespaces. */
  readonly namespace?: string;
  /** Absent for the whole collection. */
  readonly name?: string;
  readonly subresource?: string;
}

/** Returns undefined for a path without a resource, such as a path of discovery, and for a malformed path. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const segments = decodeSegments(path);
  if (segments === undefined) return undefined;
  const [prefix, ...rest] = segments;
  if (prefix === 'api') return withGroup('', rest);
  if (prefix === 'apis') return withGroup(rest[0] ?? '', rest.slice(1));
  return undefined;
}

function decodeSegments(path: string): string[] | undefined {
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function withGroup(group: string, [version, ...rest]: readonly string[]): ResourcePath | undefined {
  if (version === undefined || rest.length === 0 || rest.some((segment) => segment === '')) return undefined;
  const [first = '', second, third, ...more] = rest;
  // The Namespace itself has the paths `namespaces/<name>`, `namespaces/<name>/status` and
  // `namespaces/<name>/finalize`. Any other third segment is the plural of a kind in the namespace.
  const inside = first === 'namespaces' && second !== undefined && third !== undefined && !isNamespacePart(third);
  if (inside) return pathOf({ group, version, namespace: second }, [third, ...more]);
  return pathOf({ group, version }, rest);
}

function isNamespacePart(segment: string): boolean {
  return segment === 'status' || segment === 'finalize';
}

function pathOf(
  place: Pick<ResourcePath, 'group' | 'version' | 'namespace'>,
  [plural = '', name, subresource, ...more]: readonly string[],
): ResourcePath | undefined {
  if (more.length > 0) return undefined;
  return {
    ...place,
    plural,
    name,
    subresource,
  };
}

/** Returns the verb of the request. undefined if the method is not allowed on this path. */
export function verbOf(method: string, path: ResourcePath, query: URLSearchParams): Verb | undefined {
  const single = path.name !== undefined;
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (single) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
    case 'POST':
      return single && path.subresource === undefined ? undefined : 'create';
    case 'PUT':
      return single ? 'update' : undefined;
    case 'PATCH':
      return single ? 'patch' : undefined;
    case 'DELETE':
      return single ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

/** Parses a boolean query parameter. True unless it is absent, `false` or `0`. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}
