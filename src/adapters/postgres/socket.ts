// Opens the byte stream to a PostgreSQL server, with or without TLS, before the startup message. Source: PostgreSQL
// manual, "SSL Session Encryption" (protocol) and libpq's sslmode.

import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';
import { Failure } from '#std/failure.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Checked parts of the server's certificate: none, the chain, or the chain and the host name. */
export interface TlsCheck {
  readonly verify: 'none' | 'chain' | 'full';
  /** PEM certificates that replace the trusted roots. */
  readonly ca?: string;
}

/**
 * True if the host begins with `/`. The host is then the directory of a Unix socket, as in libpq, and never uses TLS.
 */
export function isSocketDirectory(host: string): boolean {
  return host.startsWith('/');
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/**
 * Returns a connected socket. Throws Failure `database-tls` if the server does not support TLS or its certificate does
 * not match. Throws errors of the system if the connection fails.
 */
export async function openSocket(
  address: ServerAddress,
  tls: TlsCheck | undefined,
  timeoutMs: number,
): Promise<Socket | TLSSocket> {
  const { host, port } = address;
  const socket = isSocketDirectory(host)
    ? connect({ path: `${host}/.s.PGSQL.${port}` })
    : connect({ host, port, keepAlive: true, noDelay: true });
  const late = setTimeout(() => socket.destroy(new Error(`no connection after ${timeoutMs} ms`)), timeoutMs);
  try {
    await once(socket, 'connect');
    return tls === undefined ? socket : await encrypt(socket, address, tls);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

async function encrypt(socket: Socket, address: ServerAddress, tls: TlsCheck): Promise<TLSSocket> {
  socket.write(SSL_REQUEST);
  const [answer] = await eventOf(socket, 'data');
  const where = `${address.host}:${address.port}`;
  if (isByte(answer, 'N')) throw new Failure('database-tls', `${where}: the server offers no TLS`);
  // Additional bytes may have been injected by an attacker before the encryption (CVE-2021-23222).
  if (!isByte(answer, 'S')) throw new Failure('database-tls', `${where}: no answer to the TLS request`);
  try {
    const secured = connectTls(tlsOptions(socket, address, tls));
    await eventOf(secured, 'secureConnect');
    return secured;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('database-tls', `${where}: ${reason}`, { cause });
  }
}

function tlsOptions(socket: Socket, { host }: ServerAddress, { verify, ca }: TlsCheck): ConnectionOptions {
  return {
    socket,
    rejectUnauthorized: verify !== 'none',
    // The server name must not be an address (RFC 6066 section 3).
    servername: isIP(host) === 0 ? host : undefined,
    ca,
    checkServerIdentity: (_name, certificate) =>
      verify === 'full' ? checkServerIdentity(host, certificate) : undefined,
  };
}

function isByte(data: unknown, expected: string): boolean {
  return data instanceof Buffer && data.equals(Buffer.from(expected));
}

/** Resolves with the arguments of the event. Throws if the connection fails or closes before the event. */
async function eventOf(socket: Socket, event: 'data' | 'secureConnect'): Promise<unknown[]> {
  const closed = new AbortController();
  function onClose(): void {
    closed.abort();
  }
  socket.once('close', onClose);
  try {
    return await once(socket, event, { signal: closed.signal });
  } catch (error) {
    throw closed.signal.aborted ? new Error('the server closed the connection') : error;
  } finally {
    socket.off('close', onClose);
  }
}
