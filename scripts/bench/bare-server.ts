// The least an HTTP server can do: one answer, made beforehand. Sends its port, ends when it is disconnected.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BareAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body: string;
}

const [answer] = await once(process, 'message');
const { status, headers, body }: BareAnswer = answer;
const bytes = Buffer.from(body, 'base64');
const server = createServer((_request, response) => response.writeHead(status, headers).end(bytes));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => {
  server.closeAllConnections();
  server.close();
});
