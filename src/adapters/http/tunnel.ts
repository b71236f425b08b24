// Opens a connection through an HTTP proxy with CONNECT (RFC 9110 section 9.3.6).

import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Failure } from '#std/failure.ts';

export interface TunnelRequest {
  readonly proxy: URL;
  readonly hostname: string;
  readonly port: string;
  /** Trusted root certificates for an https proxy as PEM. Default: the system's. */
  readonly ca: readonly string[] | undefined;
  readonly timeoutMs: number;
}

const HEAD_MAX = 16_384;

/**
 * Rejects with Failure `outbound-unreachable`, whose message contains the proxy without its password, or with the error
 * of the socket.
 */
export async function openTunnel({ proxy, hostname, port, ca, timeoutMs }: TunnelRequest): Promise<Socket> {
  const socket = dial(proxy, ca);
  try {
    const answered = readHead(socket, timeoutMs);
    const target = `${hostname}:${port}`;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization(proxy)}\r\n`);
    const head = await answered;
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
    if (status?.startsWith('2') === true) return socket;
    const message = `the proxy ${proxy.host} answered CONNECT with ${status ?? 'no HTTP'}`;
    throw new Failure('outbound-unreachable', message, { data: { proxy: proxy.host } });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function dial({ protocol, hostname, port }: URL, ca: readonly string[] | undefined): Socket {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80) });
  return connectTls({ host, port: Number(port || 443), servername: host, ca: ca === undefined ? undefined : [...ca] });
}

/** Returns the `proxy-authorization` header for HTTP Basic (RFC 7617). */
function authorization({ username, password }: URL): string {
  if (username === '' && password === '') return '';
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `proxy-authorization: Basic ${Buffer.from(user).toString('base64')}\r\n`;
}

/** Reads only the response header. Later bytes belong to the tunnelled connection. */
function readHead(socket: Socket, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const timer = setTimeout(() => fail(new Error(`the proxy did not answer within ${timeoutMs} ms`)), timeoutMs);
    function end(): void {
      clearTimeout(timer);
      socket.off('data', take).off('error', fail).off('close', lost);
    }
    function fail(error: Error): void {
      end();
      reject(error);
    }
    function lost(): void {
      fail(new Error('the proxy closed the connection'));
    }
    function take(chunk: Buffer): void {
      read = Buffer.concat([read, chunk]);
      const at = read.indexOf('\r\n\r\n');
      if (at < 0 && read.length <= HEAD_MAX) return;
      if (at < 0) {
        fail(new Error('the answer of the proxy has no end'));
        return;
      }
      end();
      socket.pause();
      if (read.length > at + 4) socket.unshift(read.subarray(at + 4));
      resolve(read.subarray(0, at).toString('latin1'));
    }
    socket.on('data', take).on('error', fail).on('close', lost);
  });
}
