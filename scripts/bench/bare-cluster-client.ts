// A client of the cluster that does nothing but what a request needs at least: it is sent over a kept connection, and its
// answer is read by JSON.parse.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent } from 'undici';
import { openCredentials } from '#adapters/cluster/credentials.ts';
import { systemClock } from '#hosts/clock.ts';

const PAGE = 500;
const unzipped = promisify(gunzip);

export interface BareClient {
  /** All pages of every path, the paths at once, as a run asks for them. Gives the texts of the pages. */
  listAll(paths: readonly string[]): Promise<readonly string[]>;
  send(method: 'GET' | 'DELETE', path: string): Promise<string>;
  /** Server-side apply of a body to a path with its query. */
  patch(path: string, body: string): Promise<void>;
  close(): Promise<void>;
}

export async function openBareClient(kubeconfig: string, connections: number): Promise<BareClient> {
  const source = await openCredentials({ kubeconfig, clock: systemClock });
  const { headers, tls } = await source.current();
  const { ca, cert, key } = tls;
  const connect = Object.fromEntries(Object.entries({ ca, cert, key }).filter(([, value]) => value !== undefined));
  // Over HTTP/2 each connection would have a hundred requests under way, and not the one that it says.
  const agent = new Agent({ connections, connect, allowH2: false });
  const sent = { ...headers, 'accept-encoding': 'gzip' };

  async function request(method: 'GET' | 'DELETE' | 'PATCH', path: string, body?: string): Promise<string> {
    const answer = await agent.request({
      origin: source.server,
      path,
      method,
      headers: body === undefined ? sent : { ...sent, 'content-type': 'application/apply-patch+yaml' },
      body: body ?? null,
    });
    const bytes = await answer.body.bytes();
    const plain = answer.headers['content-encoding'] === 'gzip' ? await unzipped(bytes) : bytes;
    const text = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return text;
  }

  const send = (method: 'GET' | 'DELETE', path: string): Promise<string> => request(method, path);

  async function listPages(path: string): Promise<string[]> {
    const pages: string[] = [];
    for (let next = ''; ; ) {
      const more = next === '' ? '' : `&continue=${encodeURIComponent(next)}`;
      const page = await send('GET', `${path}?limit=${PAGE}${more}`);
      pages.push(page);
      next = JSON.parse(page).metadata.continue ?? '';
      if (next === '') return pages;
    }
  }

  return {
    listAll: async (paths) => (await Promise.all(paths.map(listPages))).flat(),
    send,
    patch: async (path, body) => {
      JSON.parse(await request('PATCH', path, body));
    },
    close: () => agent.destroy(),
  };
}
