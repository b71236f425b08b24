// The least that node:http does as a reverse proxy: no checks, connections kept. Gets the port of the server, sends its own,
// ends when it is disconnected.

import { once } from 'node:events';
import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

const [port] = await once(process, 'message');
const agent = new Agent({ keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY });

const server = createServer({ noDelay: true, requestTimeout: 0 }, (request, response) => {
  const { method, url: path, headers } = request;
  const upstream = send({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on('error', () => response.destroy());
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once('disconnect', () => process.exit());
