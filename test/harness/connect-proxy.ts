// Starts an HTTP proxy on loopback that opens tunnels (RFC 9110 section 9.3.6, CONNECT), and a TLS server that forwards
// to a plain server. The proxy connects to loopback for every host name.

import { createServer } from 'node:http';
import { type AddressInfo, connect, type createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';

interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

export interface ConnectProxy {
  /** URL of the proxy, with user and password. */
  readonly url: string;
  /** `host:port` of each requested tunnel, with the received credentials. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** `status` is the status line of responses to CONNECT. */
export async function startConnectProxy(status = '200 Connection established'): Promise<ConnectProxy> {
  const asked: string[] = [];
  const server = createServer();
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    asked.push(`${url} ${headers['proxy-authorization'] ?? ''}`.trim());
    if (!status.startsWith('2')) return void socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
    const upstream = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
      pipeBoth(upstream, socket);
    });
    for (const each of [upstream, socket]) each.on('error', () => socket.destroy());
  });
  const { port, close } = await listen(server);
  return { url: `http://bot:s%40fe@127.0.0.1:${port}`, asked, close };
}

export interface TlsFront extends Listening {
  /** Certificate of the authority that signed the server's certificate, as PEM. */
  readonly authority: string;
}

/** Forwards the decrypted bytes to the port `target` on loopback. */
export async function startTlsFront(names: readonly string[], target: number): Promise<TlsFront> {
  const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
  const authority = createAuthority('front', validity);
  const { certificate: cert, privateKey: key } = createServerCertificate(authority, 'front', [...names], validity);
  const server = createTlsServer({ cert, key }, (socket) => {
    const upstream = connect(target, '127.0.0.1', () => pipeBoth(upstream, socket));
    for (const each of [upstream, socket]) each.on('error', () => socket.destroy());
  });
  return { ...(await listen(server)), authority: authority.certificate };
}

const DAY_MS = 86_400_000;

function pipeBoth(a: Socket, b: Socket): void {
  a.pipe(b).pipe(a);
}

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  };
  return { port: (server.address() as AddressInfo).port, close };
}
