// Serves `pods/portforward` for kubectl: SPDY/3.1 streams, directly over the connection or inside a WebSocket
// (KEP-4006). Each forwarded connection uses two streams, for data and for errors.

import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SpdyStream, type StreamHandlers, serveSpdy } from './spdy.ts';

/** Returns the port of this machine for a port of the pod. undefined if the pod does not have the port. */
export type FindPort = (port: number) => number | undefined;

const NOTHING: StreamHandlers = { data: () => undefined, ended: () => undefined };

export function servePortForward(socket: Duplex, find: FindPort): void {
  const errors = new Map<string, SpdyStream>();
  serveSpdy(socket, (stream) => {
    const id = stream.headers.get('requestid') ?? stream.headers.get('port') ?? '';
    if (stream.headers.get('streamtype') === 'error') {
      errors.set(id, stream);
      return NOTHING;
    }
    const error = errors.get(id);
    errors.delete(id);
    return forward(socket, stream, error, find);
  });
}

function forward(socket: Duplex, stream: SpdyStream, error: SpdyStream | undefined, find: FindPort): StreamHandlers {
  const port = Number(stream.headers.get('port'));
  const local = find(port);
  if (local === undefined) {
    error?.write(Buffer.from(`nothing listens on port ${port} of this pod, or it does not run here`));
    error?.end();
    stream.end();
    return NOTHING;
  }
  const connection = connect(local, '127.0.0.1');
  connection.on('data', (bytes: Buffer) => {
    if (stream.write(bytes)) return;
    connection.pause();
    socket.once('drain', () => connection.resume());
  });
  connection.once('error', ({ message }) => error?.write(Buffer.from(`port ${port}: ${message}`)));
  connection.once('close', () => {
    error?.end();
    stream.end();
  });
  return {
    data: (bytes) => void connection.write(bytes),
    ended: () => void connection.end(),
  };
}
