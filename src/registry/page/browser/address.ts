// Converts between the URL fragment and the shown view: a list with its filters, or one server.

export interface Query {
  readonly search: string;
  /** Values by the name of the filter. */
  readonly filters: Readonly<Record<FilterName, readonly string[]>>;
  readonly sort: Sort;
}

/** Orders of a list. The first is the default. */
export const SORTS = ['name', 'changed', 'stars', 'pulls'] as const;
export type Sort = (typeof SORTS)[number];

export const FILTER_NAMES = ['tag', 'tier', 'transport', 'status'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

export type Address =
  | { readonly view: 'list'; readonly registry: string | undefined; readonly query: Query }
  | { readonly view: 'server'; readonly registry: string; readonly server: string; readonly version: string }
  | { readonly view: 'running'; readonly namespace: string; readonly name: string };

export const LATEST = 'latest';
export const NO_QUERY: Query = { search: '', filters: { tag: [], tier: [], transport: [], status: [] }, sort: 'name' };

/**
 * Reads `#/registry?search=…`, `#/registry/server`, `#/registry/server/version`, and `#~namespace/name` for a running
 * server. Any other fragment means the list.
 */
export function readAddress(fragment: string): Address {
  const [, ...running] = /^#~([^/]+)\/([^/]+)$/.exec(fragment) ?? [];
  const [namespace, name] = running.map(decoded);
  if (namespace !== undefined && name !== undefined) return { view: 'running', namespace, name };
  const [path = '', ...rest] = fragment.replace(/^#?\/?/, '').split('?');
  const [registry, server, version = LATEST] = path.split('/').map(decoded);
  if (registry !== undefined && registry !== '' && server !== undefined && server !== '') {
    return { view: 'server', registry, server, version };
  }
  return { view: 'list', registry: registry === '' ? undefined : registry, query: readQuery(rest.join('?')) };
}

export function fragmentOf(address: Address): string {
  if (address.view === 'list') {
    const parameters = queryParameters(address.query, '').toString();
    const path = address.registry === undefined ? '' : encodeURIComponent(address.registry);
    return `#/${path}${parameters === '' ? '' : `?${parameters}`}`;
  }
  if (address.view === 'running') {
    return `#~${encodeURIComponent(address.namespace)}/${encodeURIComponent(address.name)}`;
  }
  const { registry, server, version } = address;
  const parts = version === LATEST ? [registry, server] : [registry, server, version];
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

/**
 * `prefix` precedes the names of filters and order. The API requires `x-` for parameters that extend the official API.
 */
export function queryParameters({ search, filters, sort }: Query, prefix: 'x-' | ''): URLSearchParams {
  const parameters = new URLSearchParams();
  if (search !== '') parameters.set('search', search);
  for (const name of FILTER_NAMES) for (const value of filters[name]) parameters.append(`${prefix}${name}`, value);
  if (sort !== 'name') parameters.set(`${prefix}sort`, sort);
  return parameters;
}

/** Returns whether the query has neither a search text nor filters. */
export function isEmpty({ search, filters }: Query): boolean {
  return search === '' && FILTER_NAMES.every((name) => filters[name].length === 0);
}

function readQuery(text: string): Query {
  const parameters = new URLSearchParams(text);
  const [tag, tier, transport, status] = FILTER_NAMES.map((name) => [...new Set(parameters.getAll(name))]);
  return {
    search: parameters.get('search') ?? '',
    filters: { tag: tag ?? [], tier: tier ?? [], transport: transport ?? [], status: status ?? [] },
    sort: SORTS.find((sort) => sort === parameters.get('sort')) ?? 'name',
  };
}

/** Returns an invalidly encoded part unchanged: the reader may have edited the URL. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}
