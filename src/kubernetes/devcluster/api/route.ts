// Reads a request line: which resource, which object, what is to be done.

import type { Verb } from '../resources/resource-type.ts';

/** A path below `/api/v1` or `/apis/<group>/<version>`, taken apart. */
export interface ResourcePath {
  /** The empty string for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Absent for cluster-scoped kinds and for all namespaces. */
  readonly namespace?: string;
  /** Absent for the whole collection. */
  readonly name?: string;
  readonly subresource?: string;
}

/** Undefined where the path is not that of a resource (discovery, health, nonsense). */
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
  // `namespaces/<name>` and its subresources are the Namespace itself, anything else below is inside it.
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

/** What the method means on this path; undefined where it means nothing. */
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

/** As query parameters of this API spell a boolean: present and neither `false` nor `0`. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}
