// A client on raw sockets: connections with a session each, calls in a closed loop, open streams, an answer that is read
// slowly. Answers questions of its parent, ends when it is disconnected, and throws where an answer is wrong.

import { once } from 'node:events';
import { percentile } from '../paced.ts';
import { type Connection, connectTo, openStream, startSession } from './connection.ts';
import { lengthOf, readHead, readMessage } from './http-message.ts';
import type { Answer, Question } from './load.ts';
import { type CallTemplate, callTemplate, FIRST_ID, LARGE_BYTES, listTemplate, writeId } from './messages.ts';

/** Sessions that are begun at the same time. */
const OPENED_AT_ONCE = 32;
/** What a slow reader takes before it rests. */
const TAKEN_BYTES = 512 * 1024;
const REST_MS = 20;

const ID_DIGITS = 7;
let nextId = FIRST_ID;
let connections: Connection[] = [];

process.on('message', async (question: Question) => process.send?.(await answerTo(question)));
process.once('disconnect', () => process.exit());

async function answerTo(question: Question): Promise<Answer> {
  switch (question.do) {
    case 'start':
      return {};
    case 'open':
      connections = await openAll(question);
      return {};
    case 'call':
      return callAll(question.calls, question.list === true ? listTemplate() : callTemplate());
    case 'stream':
      await inTurns(connections, openStream);
      return {};
    case 'large':
      return readLarge(question.tool);
    case 'close':
      await Promise.all(connections.map(close));
      connections = [];
      return {};
  }
}

async function openAll({ port, tokens, connections: count }: Extract<Question, { do: 'open' }>): Promise<Connection[]> {
  const opened: Connection[] = [];
  await inTurns(Array.from({ length: count }), async (_, index) => {
    const connection = await connectTo(port, tokens[index % tokens.length]);
    opened.push(await startSession(connection));
  });
  return opened;
}

async function inTurns<T>(items: readonly T[], run: (item: T, index: number) => Promise<unknown>): Promise<void> {
  const left = items.entries();
  await Promise.all(
    Array.from({ length: OPENED_AT_ONCE }, async () => {
      for (const [index, item] of left) await run(item, index);
    }),
  );
}

/** Every connection asks, waits for its answer and asks again, until there were so many calls in all. */
async function callAll(calls: number, template: CallTemplate): Promise<Answer> {
  const times = new Float64Array(calls);
  let begun = 0;
  let ended = 0;
  function take(): boolean {
    begun += 1;
    return begun <= calls;
  }
  function keep(ms: number): void {
    times[ended] = ms;
    ended += 1;
  }
  const start = performance.now();
  await Promise.all(connections.map((connection) => converse(connection, template, take, keep)));
  const seconds = (performance.now() - start) / 1000;
  const sorted = [...times].toSorted((a, b) => a - b);
  return { seconds, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}

function converse(
  connection: Connection,
  template: CallTemplate,
  take: () => boolean,
  keep: (ms: number) => void,
): Promise<void> {
  const { socket } = connection;
  const { bytes, places } = requestOf(connection, template);
  const mark = Buffer.from(`"id":${FIRST_ID}`);
  return new Promise((resolve, reject) => {
    let kept: Buffer | undefined;
    let start = 0;
    function next(): void {
      if (!take()) {
        socket.off('data', read).off('close', ended);
        resolve();
        return;
      }
      nextId += 1;
      for (const place of places) writeId(bytes, place, nextId);
      writeId(mark, mark.length - ID_DIGITS, nextId);
      start = performance.now();
      socket.write(bytes);
    }
    function read(chunk: Buffer): void {
      const all = kept === undefined ? chunk : Buffer.concat([kept, chunk]);
      const message = readMessage(all);
      if (message === undefined) {
        kept = all;
        return;
      }
      kept = undefined;
      keep(performance.now() - start);
      const { head, body, end } = message;
      if (head.startsWith('HTTP/1.1 200 ') && body.includes(mark) && end === all.length) next();
      else reject(new Error(`wrong answer: ${head}\n${body}`));
    }
    function ended(): void {
      reject(new Error('the server ended the connection'));
    }
    socket.on('data', read).on('close', ended);
    next();
  });
}

function requestOf({ fields }: Connection, { body, places }: CallTemplate) {
  const head = `POST /mcp HTTP/1.1\r\n${fields}content-length: ${body.length}\r\n\r\n`;
  return { bytes: Buffer.concat([Buffer.from(head), body]), places: places.map((place) => place + head.length) };
}

/** All of the answer of one call on the first connection, a part at a time. */
async function readLarge(tool: string): Promise<Answer> {
  const [connection] = connections;
  if (connection === undefined) throw new Error('no connection is open');
  const { socket } = connection;
  const start = performance.now();
  let received = 0;
  let taken = 0;
  let expected = LARGE_BYTES;
  const all = new Promise<void>((resolve, reject) => {
    function read(chunk: Buffer): void {
      if (received === 0) expected = sizeOf(chunk);
      received += chunk.length;
      taken += chunk.length;
      if (received >= expected) {
        socket.off('close', closed);
        resolve();
      } else if (taken >= TAKEN_BYTES) {
        taken = 0;
        socket.pause();
        setTimeout(() => socket.resume(), REST_MS);
      }
    }
    const closed = () => reject(new Error(`the server ended the connection after ${received} bytes`));
    socket.on('data', read).once('close', closed);
  });
  socket.write(requestOf(connection, callTemplate(tool)).bytes);
  await all;
  return { seconds: (performance.now() - start) / 1000 };
}

/** The whole answer's; of one in chunks as much as there is at least. */
function sizeOf(first: Buffer): number {
  const opened = readHead(first);
  if (opened === undefined || !opened.head.startsWith('HTTP/1.1 200 ')) throw new Error(`wrong answer: ${first}`);
  const length = lengthOf(opened.head);
  return length < 0 ? LARGE_BYTES : opened.start + length;
}

async function close({ socket }: Connection): Promise<void> {
  if (socket.destroyed) return;
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
}
