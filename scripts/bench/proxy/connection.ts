// Opens one connection of a client of the bench, with its session.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fieldOf, type HttpMessage, readHead, readMessage } from './http-message.ts';
import { INITIALIZED_TEXT, initializeText, REVISION } from './messages.ts';

export interface Connection {
  readonly socket: Socket;
  /** Of every request. */
  readonly fields: string;
}

/** `token`: shown with every request. */
export async function connectTo(port: number, token: string | undefined): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`;
  const fields =
    `host: 127.0.0.1:${port}\r\n${authorization}content-type: application/json\r\n` +
    `accept: application/json, text/event-stream\r\nmcp-protocol-version: ${REVISION}\r\n`;
  return { socket, fields };
}

/** The same connection with the id of its session in every request. */
export async function startSession(connection: Connection): Promise<Connection> {
  const { head } = await post(connection, initializeText());
  const session = fieldOf(head, 'mcp-session-id');
  if (session === undefined) throw new Error(`no session: ${head}`);
  const begun = { ...connection, fields: `${connection.fields}mcp-session-id: ${session}\r\n` };
  await post(begun, INITIALIZED_TEXT);
  return begun;
}

async function post({ socket, fields }: Connection, body: string): Promise<HttpMessage> {
  socket.write(`POST /mcp HTTP/1.1\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`);
  let bytes = Buffer.alloc(0);
  for (;;) {
    bytes = Buffer.concat([bytes, await nextChunk(socket)]);
    const message = readMessage(bytes);
    if (message === undefined) continue;
    if (!/^HTTP\/1\.1 20[02] /.test(message.head)) throw new Error(`wrong answer: ${message.head}\n${message.body}`);
    return message;
  }
}

/** From here on the connection is one stream, whose events nothing waits for. */
export async function openStream({ socket, fields }: Connection): Promise<void> {
  socket.write(`GET /mcp HTTP/1.1\r\n${fields}\r\n`);
  let bytes = Buffer.alloc(0);
  for (;;) {
    bytes = Buffer.concat([bytes, await nextChunk(socket)]);
    const opened = readHead(bytes);
    if (opened === undefined) continue;
    if (!opened.head.startsWith('HTTP/1.1 200 ')) throw new Error(`no stream: ${bytes}`);
    socket.once('end', () => {
      throw new Error('a stream was ended');
    });
    socket.resume();
    return;
  }
}

/** Of a socket that is never paused. What comes before it is asked for again is lost. */
function nextChunk(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    function read(chunk: Buffer): void {
      socket.off('close', closed);
      resolve(chunk);
    }
    function closed(): void {
      socket.off('data', read);
      reject(new Error('the server ended the connection'));
    }
    socket.once('data', read).once('close', closed);
  });
}
