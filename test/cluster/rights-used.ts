// Which rights a request to an API server needs. Knows nothing about who asks.

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
