import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type ClientAnswer, createClientAnswer } from './client-answer.ts';

const server = createServer();
const clients: Socket[] = [];
let turn: (() => void)[] = [];
let timers = 0;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  turn = [];
  timers = 0;
});
afterAll(() => {
  for (const client of clients) client.destroy();
  server.close();
});

function endTurn(): void {
  for (const task of turn) task();
}

function startTimer(): () => void {
  timers += 1;
  return () => {
    timers -= 1;
  };
}

interface Asked {
  readonly client: Socket;
  readonly response: ServerResponse;
  readonly answer: ClientAnswer;
  readonly ended: ReturnType<typeof vi.fn>;
}

async function ask(): Promise<Asked> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  client.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const ended = vi.fn();
  const answer = createClientAnswer({
    ...{ response, ended, headers: {}, keepAliveMs: 60_000 },
    shownHeaders: (headers) => ({ ...headers }) as OutgoingHttpHeaders,
    clock: { every: startTimer, atTurnEnd: (task) => turn.push(task) },
  });
  return { client, response, answer, ended };
}

const EVENTS = { 'content-type': 'text/event-stream' };

function giveWhole({ answer }: Asked, text: string): void {
  answer.head(200, { 'content-type': 'application/json', 'content-length': String(text.length) });
  answer.data(Buffer.from(text));
}

/** Returns the received bytes once they end with `text` or the connection has ended. */
async function answered({ client }: Asked, text: string): Promise<string> {
  let got = '';
  for await (const chunk of client) {
    got += String(chunk);
    if (got.endsWith(text)) break;
  }
  return got;
}

it('sends answers of one turn together at its end', async () => {
  const asked = [await ask(), await ask()] as const;
  for (const [index, each] of asked.entries()) {
    giveWhole(each, `{"answer":${index}}`);
    each.answer.end();
    expect(each.ended).toHaveBeenCalledExactlyOnceWith(undefined);
  }
  expect(asked.map(({ response }) => response.socket?.bytesWritten)).toEqual([0, 0]);
  endTurn();
  expect(asked.every(({ response }) => (response.socket?.bytesWritten ?? 0) > 0)).toBe(true);
  expect(await answered(asked[0], '{"answer":0}')).toMatch(/^HTTP\/1.1 200 OK/);
  expect(await answered(asked[1], '{"answer":1}')).toMatch(/^HTTP\/1.1 200 OK/);
});

it('sends the client the complete answer of a server that fails after its last byte', async () => {
  const asked = await ask();
  giveWhole(asked, '{"answer":0}');
  asked.answer.fail({ reason: 'closed', message: 'the MCP server ended' });
  endTurn();
  expect(await answered(asked, '{"answer":0}')).toContain('content-length: 12');
  expect(asked.ended).toHaveBeenCalledTimes(1);
});

it('drops bytes beyond the declared Content-Length', async () => {
  const asked = await ask();
  giveWhole(asked, '{"answer":0}');
  asked.answer.data(Buffer.from('HTTP/1.1 200 OK\r\n'));
  asked.answer.end();
  endTurn();
  expect(await answered(asked, '{"answer":0}')).not.toMatch(/HTTP.*HTTP/s);
});

it('sends answers to other clients if one client disconnects before the end of the turn', async () => {
  const [gone, stays] = [await ask(), await ask()];
  for (const each of [gone, stays]) giveWhole(each, '{"answer":0}');
  gone.client.destroy();
  await once(gone.response, 'close');
  gone.answer.abandon();
  stays.answer.end();
  endTurn();
  expect(await answered(stays, '{"answer":0}')).toContain('200 OK');
  expect(gone.ended).toHaveBeenCalledTimes(1);
});

it('sends a stream in one piece if the stream ends within its first turn', async () => {
  const asked = await ask();
  asked.answer.head(200, EVENTS);
  asked.answer.data(Buffer.from('data: 1\n\n'));
  asked.answer.data(Buffer.from('data: 2\n\n'));
  asked.answer.end();
  const { socket } = asked.response;
  expect(socket?.writableLength).toBe(socket?.bytesWritten);
  endTurn();
  expect(await answered(asked, '0\r\n\r\n')).toMatch(/200 OK.*data: 1.*data: 2/s);
  expect(timers).toBe(0);
  expect(asked.ended).toHaveBeenCalledExactlyOnceWith(undefined);
});

it('sends the head of a stream that stays open at the end of the turn, and each later event at once', async () => {
  const asked = await ask();
  asked.answer.head(200, EVENTS);
  endTurn();
  const head = asked.response.socket?.bytesWritten ?? 0;
  expect(head).toBeGreaterThan(0);
  asked.answer.data(Buffer.from('data: 1\n\n'));
  expect(asked.response.socket?.bytesWritten).toBeGreaterThan(head);
  expect(await answered(asked, 'data: 1\n\n\r\n')).toContain('text/event-stream');
  expect(timers).toBe(1);
  asked.answer.end();
  expect(timers).toBe(0);
});

it('sends the client the received part of a stream that breaks within its first turn', async () => {
  const asked = await ask();
  asked.answer.head(200, EVENTS);
  asked.answer.data(Buffer.from('data: 1\n\n'));
  asked.answer.fail({ reason: 'closed', message: 'the MCP server ended' });
  endTurn();
  const got = await answered(asked, 'never');
  expect(got).toContain('data: 1');
  expect(got).not.toContain('0\r\n\r\n');
});
