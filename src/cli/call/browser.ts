// Opens a page in the browser, and listens on this machine for the redirect after a login (RFC 8252, section 7.3).

import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Return {
  readonly port: number;
  readonly url: string;
  /** Resolves with the query of the redirect whose `state` is the given state. */
  readonly comesBack: (state: string) => Promise<URLSearchParams>;
  readonly close: () => void;
}

const PATH = '/callback';

/** Listens on `port`, the port of earlier logins. If it is undefined or in use, listens on a free port. */
export async function awaitReturn(port: number | undefined): Promise<Return> {
  const server = createServer();
  const listened = await listenOn(server, port ?? 0).catch((error: NodeJS.ErrnoException) => {
    if (port === undefined || error.code !== 'EADDRINUSE') throw error;
    return listenOn(server, 0);
  });
  return {
    port: listened,
    url: `http://127.0.0.1:${listened}${PATH}`,
    comesBack: (state) =>
      new Promise((resolve) => {
        server.on('request', (request, response) => {
          const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
          // Other pages and programs may also send requests to this port. Only a request with the right state is
          // accepted.
          const ours = pathname === PATH && searchParams.get('state') === state;
          const text = ours ? 'Done: go back to the terminal.' : 'No login is expected here.';
          response.writeHead(ours ? 200 : 404, {
            'content-type': 'text/plain; charset=utf-8',
            'cache-control': 'no-store',
            connection: 'close',
          });
          response.end(`${text}\n`);
          if (ours) response.once('close', () => resolve(searchParams));
        });
      }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function listenOn(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Opens an http or https URL in the browser. A failure is ignored, because the URL is also printed. `chosen` is the
 * environment variable BROWSER.
 */
export function openBrowser(url: URL, chosen: string | undefined): void {
  const [program = 'xdg-open', ...args] = chosen === undefined ? (OPENERS[process.platform] ?? ['xdg-open']) : [chosen];
  const child = spawn(program, [...args, url.href], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
