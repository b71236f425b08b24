// Serves one side of a SPDY/3.1 connection whose peer opens the streams, as kubectl does to forward ports. Flow
// control is not implemented, as in Kubernetes itself.

import type { Duplex } from 'node:stream';
import { openHeaderBlocks, type SpdyHeaders } from './spdy-headers.ts';

export interface SpdyStream {
  readonly headers: SpdyHeaders;
  /** If false, the caller must wait for `drain` of the connection's socket. */
  write(bytes: Buffer): boolean;
  /** Ends our direction of the stream. */
  end(): void;
  /** Ends both directions of the stream at once. */
  reset(): void;
}

export interface StreamHandlers {
  data(bytes: Buffer): void;
  /** Reports that the peer has ended its direction or that the connection is lost. */
  ended(): void;
}

/** Accepts a stream that the peer opened. Returns the handlers of its events. */
export type TakeStream = (stream: SpdyStream) => StreamHandlers;

const SYN_STREAM = 1;
const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;
const FIN = 1;
const CANCEL = 5;
const HEAD_BYTES = 8;
const CONTROL = 0x8003_0000;
const MAX_FRAME_BYTES = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

export function serveSpdy(socket: Duplex, take: TakeStream): void {
  const blocks = openHeaderBlocks();
  const streams = new Map<number, StreamHandlers>();
  let rest: Buffer = Buffer.alloc(0);
  let reading = Promise.resolve();

  function send(head: number, flags: number, body: Buffer): boolean {
    if (socket.destroyed || socket.writableEnded) return false;
    const bytes = Buffer.alloc(HEAD_BYTES);
    bytes.writeUInt32BE(head >>> 0, 0);
    bytes.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
    return socket.write(Buffer.concat([bytes, body]));
  }

  function streamOf(id: number, headers: SpdyHeaders): SpdyStream {
    let open = true;
    return {
      headers,
      write(bytes) {
        let flows = true;
        for (let at = 0; at < bytes.length && open; at += PIECE_BYTES) {
          flows = send(id, 0, bytes.subarray(at, at + PIECE_BYTES));
        }
        return flows;
      },
      end() {
        if (open) send(id, FIN, Buffer.alloc(0));
        open = false;
      },
      reset() {
        if (open) send(CONTROL | RST_STREAM, 0, numbers(id, CANCEL));
        open = false;
        endStream(id);
      },
    };
  }

  function endStream(id: number): void {
    const handlers = streams.get(id);
    streams.delete(id);
    handlers?.ended();
  }

  async function readControl(type: number, flags: number, body: Buffer): Promise<void> {
    const id = body.length >= 4 ? body.readUInt32BE(0) & 0x7fff_ffff : 0;
    if (type === SYN_STREAM) {
      const headers = await blocks.unpack(body.subarray(10));
      const reply = await blocks.pack(new Map());
      send(CONTROL | SYN_REPLY, 0, Buffer.concat([numbers(id), reply]));
      streams.set(id, take(streamOf(id, headers)));
      if ((flags & FIN) !== 0) endStream(id);
    } else if (type === RST_STREAM) endStream(id);
    else if (type === PING) send(CONTROL | PING, 0, body);
    else if (type === GOAWAY) socket.end();
  }

  async function readFrames(chunk: Buffer): Promise<void> {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD_BYTES) {
      const [head, second] = [rest.readUInt32BE(0), rest.readUInt32BE(4)];
      const [flags, length] = [second >>> 24, second & 0xff_ffff];
      if (length > MAX_FRAME_BYTES) throw new Error(`a frame of ${length} bytes`);
      if (rest.length < HEAD_BYTES + length) return;
      const body = rest.subarray(HEAD_BYTES, HEAD_BYTES + length);
      rest = rest.subarray(HEAD_BYTES + length);
      if (head >= 0x8000_0000) await readControl(head & 0xffff, flags, body);
      else readData(head, flags, body);
    }
  }

  function readData(id: number, flags: number, body: Buffer): void {
    if (body.length > 0) streams.get(id)?.data(body);
    if ((flags & FIN) !== 0) endStream(id);
  }

  socket.on('data', (chunk: Buffer) => {
    reading = reading.then(() => readFrames(chunk)).catch(() => void socket.destroy());
  });
  socket.once('error', () => socket.destroy());
  socket.once('close', () => {
    for (const id of [...streams.keys()]) endStream(id);
    blocks.close();
  });
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * index);
  return bytes;
}
