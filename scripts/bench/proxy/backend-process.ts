// A streamable HTTP server of MCP on raw sockets, that costs as little as it can: it looks for the id of a call and at
// nothing else. Gets the result of its list of tools, if it is not the usual one; sends its port, ends when it is disconnected.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { readMessage } from './http-message.ts';
import {
  answerTemplate,
  answerText,
  LARGE_BYTES,
  LARGE_STREAM_TOOL,
  LARGE_TOOL,
  quickCallId,
  type ReadMessage,
} from './messages.ts';

const JSON_TYPE = 'content-type: application/json\r\n';
const STREAM_TYPE = 'content-type: text/event-stream\r\ncache-control: no-cache\r\n';
const PIECE = Buffer.alloc(64 * 1024, 'z');

const { body: answer, places } = answerTemplate();
const [idPlace = 0] = places;
const beforeId = answer.toString('latin1', 0, idPlace);
const afterId = answer.toString('latin1', idPlace + 7);

const [tools]: unknown[] = await once(process, 'message');
const list = typeof tools === 'string' ? tools : undefined;
const server = createServer({ noDelay: true }, converse);
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once('disconnect', () => process.exit());

function converse(socket: Socket): void {
  let kept: Buffer | undefined;
  // Clients may vanish.
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    let bytes = kept === undefined ? chunk : Buffer.concat([kept, chunk]);
    for (let message = readMessage(bytes); message !== undefined; message = readMessage(bytes)) {
      respond(socket, message.head, message.body);
      bytes = bytes.subarray(message.end);
    }
    kept = bytes.length === 0 ? undefined : bytes;
  });
}

function respond(socket: Socket, head: string, body: Buffer): void {
  if (head.startsWith('POST ')) {
    const id = quickCallId(body);
    if (id === undefined) respondToOther(socket, JSON.parse(body.toString()));
    else writeJson(socket, `${beforeId}${id.toString('latin1')}${afterId}`);
    return;
  }
  if (head.startsWith('GET ')) {
    socket.write(`HTTP/1.1 200 OK\r\n${STREAM_TYPE}transfer-encoding: chunked\r\n\r\n9\r\n: ready\n\n\r\n`);
    return;
  }
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
}

function respondToOther(socket: Socket, message: ReadMessage): void {
  const { id, params } = message;
  if (params?.name === LARGE_TOOL) void writeLarge(socket, id, JSON_TYPE, '', '');
  else if (params?.name === LARGE_STREAM_TOOL) void writeLarge(socket, id, STREAM_TYPE, 'data: ', '\n\n');
  else {
    const text = answerOf(message);
    if (text === undefined) socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n');
    else writeJson(socket, text, message.method === 'initialize' ? `mcp-session-id: ${randomUUID()}\r\n` : '');
  }
}

function answerOf(message: ReadMessage): string | undefined {
  if (message.method !== 'tools/list' || list === undefined) return answerText(message);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${list}}`;
}

/** One byte a character: all texts of the bench are ASCII. */
function writeJson(socket: Socket, text: string, fields = ''): void {
  socket.write(`HTTP/1.1 200 OK\r\n${JSON_TYPE}${fields}content-length: ${text.length}\r\n\r\n${text}`, 'latin1');
}

/** As fast as it is read, and no faster. */
async function writeLarge(
  socket: Socket,
  id: number | string | undefined,
  type: string,
  before: string,
  after: string,
): Promise<void> {
  const begin = `${before}{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`;
  const end = `"}],"isError":false}}${after}`;
  const length = begin.length + LARGE_BYTES + end.length;
  socket.write(`HTTP/1.1 200 OK\r\n${type}content-length: ${length}\r\n\r\n${begin}`);
  for (let sent = 0; sent < LARGE_BYTES; sent += PIECE.length) {
    if (!socket.write(PIECE)) await once(socket, 'drain');
  }
  socket.write(end);
}
