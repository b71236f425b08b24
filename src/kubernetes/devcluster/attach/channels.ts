// Serves the streams of an attached container over one WebSocket. The first byte of a message is the channel number.

import type { RawData, WebSocket } from 'ws';
import type { JsonObject } from '#std/json.ts';
import type { ContainerConnection, ContainerOutput } from './containers.ts';

export type AttachProtocol = 'v4.channel.k8s.io' | 'v5.channel.k8s.io';

export interface AttachedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const PIECE_BYTES = 32 * 1024;
const MAX_BUFFERED_BYTES = 256 * 1024;

const SUCCESS: JsonObject = { metadata: {}, status: 'Success' };

/**
 * Connects a WebSocket to a container. `connection` is undefined if no node runs the container. The client then
 * receives `failure` on the status channel.
 */
export function serveChannels(
  socket: WebSocket,
  protocol: AttachProtocol,
  streams: AttachedStreams,
  connection: ContainerConnection | undefined,
  use: (output: ContainerOutput) => void,
  failure: JsonObject,
): void {
  const endsHere = protocol === 'v5.channel.k8s.io';
  socket.on('error', () => socket.terminate());
  socket.on('ping', (data: Buffer) => {
    if (endsHere || connection?.frozen() !== true) socket.pong(data);
  });
  if (connection === undefined) {
    finishChannels(socket, failure);
    return;
  }
  // The kubelet also sends these empty messages, which tell the client that the channels exist.
  for (const channel of [STDOUT, STDERR]) socket.send(Buffer.of(channel));
  socket.on('message', (data) => receiveInput(socket, data, streams, connection));
  socket.on('close', () => connection.detach(streams.stdin));
  use({
    stdout: (chunk) => streams.stdout && sendOutput(socket, STDOUT, chunk, connection),
    stderr: (chunk) => streams.stderr && sendOutput(socket, STDERR, chunk, connection),
    ended: (error) => finishChannels(socket, error === undefined ? SUCCESS : failureStatus(error)),
    lost() {
      // If the kubelet is lost, an API server ends a v5 connection as if the container had exited with code 0.
      if (endsHere) finishChannels(socket, SUCCESS);
      else socket.terminate();
    },
  });
}

function failureStatus(message: string): JsonObject {
  return { metadata: {}, status: 'Failure', message, reason: 'NonZeroExitCode' };
}

function finishChannels(socket: WebSocket, status: JsonObject): void {
  const text = Buffer.from(JSON.stringify({ kind: 'Status', apiVersion: 'v1', ...status }));
  socket.send(Buffer.concat([Buffer.of(STATUS), text]));
  socket.close(1000);
}

function sendOutput(socket: WebSocket, channel: number, chunk: Buffer, connection: ContainerConnection): void {
  for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
    socket.send(Buffer.concat([Buffer.of(channel), chunk.subarray(from, from + PIECE_BYTES)]), () => {
      if (socket.bufferedAmount <= MAX_BUFFERED_BYTES / 2) connection.resume();
    });
  }
  if (socket.bufferedAmount > MAX_BUFFERED_BYTES) connection.pause();
}

function receiveInput(
  socket: WebSocket,
  data: RawData,
  streams: AttachedStreams,
  connection: ContainerConnection,
): void {
  if (!Buffer.isBuffer(data) || connection.frozen()) return;
  // Ignores all other messages. The v5 message that closes a channel is also ignored: a kubelet closes the container's
  // input only at the end of the connection, if `stdinOnce` is set.
  if (data[0] !== STDIN || !streams.stdin || data.length < 2) return;
  if (connection.write(data.subarray(1))) return;
  socket.pause();
  connection.drained(() => socket.resume());
}
