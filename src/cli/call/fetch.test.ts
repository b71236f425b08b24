// Tests to which addresses a server may refer. A server on this machine may refer to this machine and to private
// networks. Link-local addresses are never allowed.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRequests, type Requests } from './fetch.ts';

const server = createServer((_request, response) => response.end('here'));
let other: string;
let requests: Requests;

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  other = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  requests = createRequests(new URL('http://127.0.0.1:9/mcp'));
});
afterAll(async () => {
  await requests.close();
  await new Promise((done) => server.close(done));
});

it('a server on this machine may refer to another server on this machine', async () => {
  expect(await (await requests.fetch(other)).text()).toBe('here');
});

it.each(['http://169.254.169.254/latest', 'http://[fe80::1]/'])('no server may refer to %s', async (url) => {
  await expect(requests.fetch(url)).rejects.toMatchObject({ code: 'outbound-refused-address' });
});
