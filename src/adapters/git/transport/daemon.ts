// Connects to a git daemon (git-daemon(1), git://), without encryption and authentication.

import { connect, type Socket } from 'node:net';
import { connectFailure } from '../../http/failures.ts';
import type { Outbound } from '../../http/outbound.ts';
import type { DaemonLocation } from '../location.ts';
import type { GitStream } from './pipe.ts';
import { pktLine } from './pkt-line.ts';

export interface DaemonOptions {
  readonly location: DaemonLocation;
  readonly outbound: Outbound;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Throws Failure with one of OUTBOUND_CODES. */
export async function openDaemon({ location, outbound }: DaemonOptions, signal: AbortSignal): Promise<GitStream> {
  const { host, port, path } = location;
  const socket = await connected(outbound, location, signal);
  // The request contains the host for daemons that serve several hosts (gitprotocol-pack(5), Git Transport).
  socket.write(pktLine(`git-upload-pack ${path}\0host=${host}:${port}\0`));
  return {
    input: socket,
    output: socket,
    complaint: async () => undefined,
    destroy: (error) => void socket.destroy(error),
  };
}

/** Connects to the first permitted address that accepts the connection. */
async function connected(
  outbound: Outbound,
  { host, port, url }: DaemonLocation,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown;
  for (const address of await outbound.permitted(host, url)) {
    try {
      return await connectTo(address, port, signal);
    } catch (error) {
      last = error;
    }
  }
  throw connectFailure(url, last);
}

function connectTo(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    const late = Object.assign(new Error('connect timed out'), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => socket.destroy(late), CONNECT_TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.once('error', reject).once('connect', () => {
      clearTimeout(timer);
      // Later errors are reported by reads. Without a listener, an error would end the process.
      socket.off('error', reject).on('error', () => undefined);
      resolve(socket);
    });
  });
}
