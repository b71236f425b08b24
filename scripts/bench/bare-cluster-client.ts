// A client of the cluster that does nothing but what a LIST needs at least: the request over a kept connection, and
// JSON.parse of each page.

import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent } from 'undici';

const PAGE = 500;
const unzipped = promisify(gunzip);

export interface BareClient {
  /** All pages of every path, the paths at once, as a run asks for them. Gives the texts of the pages. */
  listAll(paths: readonly string[]): Promise<readonly string[]>;
  send(method: 'GET' | 'DELETE', path: string): Promise<string>;
  close(): Promise<void>;
}

/** The kubeconfig is one of the embedded cluster, which is JSON. */
export function openBareClient(kubeconfig: string, connections: number): BareClient {
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8'));
  const { server, 'certificate-authority-data': authority } = config.clusters[0].cluster;
  const agent = new Agent({ connections, connect: { ca: Buffer.from(authority, 'base64').toString() } });
  const headers = { authorization: `Bearer ${config.users[0].user.token}`, 'accept-encoding': 'gzip' };

  async function send(method: 'GET' | 'DELETE', path: string): Promise<string> {
    const answer = await agent.request({ origin: server, path, method, headers });
    const bytes = await answer.body.bytes();
    const plain = answer.headers['content-encoding'] === 'gzip' ? await unzipped(bytes) : bytes;
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode}`);
    return Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString();
  }

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
    close: () => agent.destroy(),
  };
}
