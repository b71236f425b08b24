// Another registry for tests: the official API's list over real HTTP, with pages, `updated_since` and entity tags, and
// whatever else a test makes it answer.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Server {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly status?: 'active' | 'deprecated' | 'deleted';
  readonly isLatest?: boolean;
  /** RFC 3339; absent: the registry does not tell. */
  readonly updatedAt?: string;
}

export interface Upstream {
  readonly url: string;
  /** What it serves now. */
  servers: readonly Server[];
  /** Each request since the last look: path and query, and the entity tag it came with. */
  requests(): string[];
  /** Answers instead of the registry; `undefined` lets the registry answer. */
  answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  readonly options: { path: string; pageSize: number; knowsSince: boolean; etags: boolean };
  close(): Promise<void>;
}

export async function startUpstream(): Promise<Upstream> {
  let seen: string[] = [];
  const options = { path: '/v0/servers', pageSize: 2, knowsSince: true, etags: true };
  const upstream: Omit<Upstream, 'url' | 'close'> = {
    servers: [],
    answer: undefined,
    options,
    requests() {
      const before = seen;
      seen = [];
      return before;
    },
  };
  const http = createServer((request, response) => {
    const tag = request.headers['if-none-match'];
    seen.push(`${request.url}${tag === undefined ? '' : ' if-none-match'}`);
    if (upstream.answer?.(request, response) === true) return;
    const url = new URL(request.url ?? '/', 'http://upstream');
    if (url.pathname !== options.path) return void response.writeHead(404).end('{"error":"not found"}');
    const body = JSON.stringify(page(upstream, url.searchParams));
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
    if (options.etags) response.setHeader('etag', etag);
    if (options.etags && tag === etag) return void response.writeHead(304).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const address = http.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return Object.assign(upstream, {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  });
}

function page({ servers, options }: Pick<Upstream, 'servers' | 'options'>, query: URLSearchParams): object {
  const since = options.knowsSince ? query.get('updated_since') : null;
  const matching = servers.filter(({ status, updatedAt = '' }) =>
    since === null ? status !== 'deleted' : Date.parse(updatedAt) > Date.parse(since),
  );
  const from = Number(query.get('cursor') ?? 0);
  const next = from + options.pageSize;
  return {
    servers: matching.slice(from, next).map(item),
    metadata: { count: matching.length, ...(next < matching.length ? { nextCursor: String(next) } : {}) },
  };
}

export function item({ name, version = '1.0.0', description = name, tags, ...official }: Server): object {
  const block = { 'io.modelcontextprotocol.registry/publisher-provided': { 'io.acme': { any: { tags } } } };
  const { updatedAt, status = 'active', isLatest } = official;
  const meta = updatedAt === undefined ? {} : { status, updatedAt, ...(isLatest === undefined ? {} : { isLatest }) };
  return {
    server: { name, version, description, ...(tags === undefined ? {} : { _meta: block }) },
    _meta: updatedAt === undefined ? {} : { 'io.modelcontextprotocol.registry/official': meta },
  };
}
