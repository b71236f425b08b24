// Tests calls whose backend ends the HTTP response without a JSON-RPC response: the client gets an error with its id.

import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

type Write = (response: ServerResponse, id: string) => void;

const EVENTS = { 'content-type': 'text/event-stream' };
const NOTE = 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n';
const result = (id: string) => `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`;

/** Functions that write an HTTP response without a JSON-RPC response, by name. */
const UNANSWERED: Readonly<Record<string, Write>> = {
  'an event stream without an event': (response) => void response.writeHead(200, EVENTS).end(),
  'an event stream with a notification alone': (response) => void response.writeHead(200, EVENTS).end(NOTE),
  // HTML Standard, Server-sent events: an event without an empty line at its end is dropped.
  'a last event without its empty line': (response, id) => void response.writeHead(200, EVENTS).end(`${result(id)}\n`),
  'status 200 and no body': (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(),
  'status 202': (response) => void response.writeHead(202).end(),
  'status 204': (response) => void response.writeHead(204).end(),
};

const ANSWERED: Readonly<Record<string, Write>> = {
  'a response with a word for method in it': (response, id) => {
    const data = `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"_meta":{"method":"x"}}}`;
    response.writeHead(200, EVENTS).end(`data: ${data}\n\n`);
  },
  'JSON in two pieces': (response, id) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"jsonrpc":"2.0","id":${id},`);
    response.end('"result":{"content":[]}}');
  },
};

const RAW = { ...UNANSWERED, ...ANSWERED };
const WAYS = Object.keys(RAW);
const nameOf = (way: string) => `w${WAYS.indexOf(way)}`;

let member: TestMember;
let server: TestedVirtualServer;

beforeAll(async () => {
  const raw = Object.fromEntries(Object.entries(RAW).map(([way, write]) => [nameOf(way), write]));
  member = await startMember({ tools: Object.keys(raw).map((name) => tool(name)), raw });
  server = await runVirtual(configOf({ one: member }, operational({ unhealthyThreshold: 2 })));
});
afterAll(async () => {
  await server.stop();
  await member.close();
});

async function call(way: string) {
  const client = await connect(server);
  return client.ask('tools/call', { name: `one_${nameOf(way)}`, arguments: {} });
}

it.each(Object.keys(UNANSWERED))('%s leads to an error of the call', async (way) => {
  const message =
    'the backend one closed the connection before its answer ended: the request may have been carried out';
  expect((await call(way)).error).toEqual({ code: -32603, message });
});

it.each(Object.keys(ANSWERED))('%s passes', async (way) => {
  expect((await call(way)).content).toEqual([]);
});

it('tools without a response leave their backend healthy', async () => {
  const client = await connect(server);
  expect((await client.ask('tools/list')).tools).toHaveLength(WAYS.length);
});
