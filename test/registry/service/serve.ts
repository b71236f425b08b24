// Small HTTP and HTTPS endpoints on 127.0.0.1, for answers that no real provider gives.

import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

export interface Endpoint {
  /** `http(s)://127.0.0.1:port` */
  readonly url: string;
  close(): Promise<void>;
}

export async function serve(
  answer: RequestListener,
  identity?: { readonly certificate: string; readonly privateKey: string },
): Promise<Endpoint> {
  const server: Server =
    identity === undefined
      ? createServer(answer)
      : createTlsServer({ cert: identity.certificate, key: identity.privateKey }, answer);
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  return {
    url: `${identity === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
