// Opens a connection to PostgreSQL as libpq does: supports the six values of sslMode, and sends a password only if the
// server requires it.

import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type pg from 'pg';
import type { SslMode } from '#contracts/database-fields.ts';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';
import { type ConnectionTarget, databaseFailure, describePlace, isRefused } from './failure.ts';
import { pgPackage } from './package.ts';
import { readPassword } from './pgpass.ts';
import { isSocketDirectory, openSocket, type TlsCheck } from './socket.ts';

export interface DatabaseAddress extends ConnectionTarget {
  readonly sslMode: SslMode;
  /**
   * PEM file of the certificate authority. If set, every TLS connection verifies the certificate chain, as in libpq.
   */
  readonly caFile?: string;
  /** PEM certificates, which take precedence over `caFile`. */
  readonly ca?: string;
  /** Password file in libpq's format. */
  readonly passFile?: string;
  /** Takes precedence over `passFile`. */
  readonly password?: string;
  /** Timeout in milliseconds of the connection and login. Default: 10 s. */
  readonly connectTimeoutMs?: number;
  /** Time limit in milliseconds of every statement. 0 means no limit. Default: 30 s. */
  readonly statementTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Additional milliseconds for a response after the statement's time limit, because the server may be unreachable. */
const SILENCE_MS = 5_000;

/** TLS settings of an attempt. undefined without TLS. */
type Way = TlsCheck | undefined;

export interface OpenConnection {
  readonly client: pg.Client;
  /** Closes the connection without notifying the server. */
  destroy(): void;
}

/** Throws Failure with a code `database-*` about connections. */
export async function connect(address: DatabaseAddress): Promise<OpenConnection> {
  const [first, second] = await ways(address);
  try {
    return await connectBy(address, first?.tls);
  } catch (error) {
    if (second === undefined || !fallsBack(first?.tls, error)) throw databaseFailure(error, address);
    return await connectBy(address, second.tls).catch((last: unknown) => {
      throw bothFailed(address, error, last);
    });
  }
}

/** Returns the attempts that the mode allows, in order of preference. */
async function ways(address: DatabaseAddress): Promise<readonly { readonly tls: Way }[]> {
  const { host, sslMode, caFile } = address;
  if (sslMode === 'disable' || isSocketDirectory(host)) return [{ tls: undefined }];
  const ca = address.ca ?? (caFile === undefined ? undefined : await readCa(caFile));
  const lenient: TlsCheck = ca === undefined ? { verify: 'none' } : { verify: 'chain', ca };
  switch (sslMode) {
    case 'allow':
      return [{ tls: undefined }, { tls: lenient }];
    case 'prefer':
      return [{ tls: lenient }, { tls: undefined }];
    case 'require':
      return [{ tls: lenient }];
    case 'verify-ca':
      if (ca !== undefined) return [{ tls: lenient }];
      // Without a check of the host name, a certificate of a public authority proves nothing, because everyone can get
      // a certificate.
      throw new Failure('database-tls', `${describePlace(address)}: sslMode verify-ca needs caFile`);
    case 'verify-full':
      return [{ tls: { verify: 'full', ca } }];
  }
}

/**
 * True if the next attempt should be made, as in libpq: the server may refuse only connections with TLS, or only
 * connections without TLS.
 */
function fallsBack(tried: Way, error: unknown): boolean {
  if (isRefused(error)) return true;
  return tried !== undefined && error instanceof Failure && error.code === 'database-tls';
}

function bothFailed(address: DatabaseAddress, first: unknown, last: unknown): Failure {
  const { code, message, data, retryable } = databaseFailure(last, address);
  const before = databaseFailure(first, address).message;
  const both = message === before ? message : `${message} (tried before: ${before})`;
  return new Failure(code, both, { data, retryable, cause: last });
}

async function connectBy(address: DatabaseAddress, tls: Way): Promise<OpenConnection> {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = address;
  const started = performance.now();
  const socket = await openSocket(address, tls, connectTimeoutMs);
  const { host, port, user, database } = address;
  const client = new (pgPackage().Client)({
    host,
    port,
    user,
    database,
    ssl: false,
    stream: () => connected(socket),
    password: () => passwordOf(address),
    connectionTimeoutMillis: Math.max(1, connectTimeoutMs - (performance.now() - started)),
    application_name: 'skep',
    statement_timeout: statementTimeoutMs > 0 ? statementTimeoutMs : undefined,
    query_timeout: statementTimeoutMs > 0 ? statementTimeoutMs + SILENCE_MS : undefined,
  });
  // An idle connection that breaks must not end the process. Its next use fails.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return { client, destroy: () => socket.destroy() };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** `pg` connects its stream itself. Our stream is already connected and only emits the event. */
function connected(socket: Socket): Socket {
  return Object.assign(socket, {
    connect() {
      process.nextTick(() => socket.emit('connect'));
      return socket;
    },
  });
}

/** Called only if the server requires a password. */
async function passwordOf(address: DatabaseAddress): Promise<string> {
  const { password, passFile } = address;
  if (password !== undefined && password !== '') return password;
  const found = passFile === undefined ? undefined : await readPassword(passFile, address);
  if (found !== undefined && found !== '') return found;
  const where = passFile === undefined ? 'no password file is configured' : `${passFile} has no line for it`;
  throw new Failure('database-auth', `${describePlace(address)}: the server requires a password, and ${where}`);
}

async function readCa(file: string): Promise<string> {
  try {
    return textOfFile(await readFile(file), file, 'database-tls');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('database-tls', `caFile ${file} cannot be read`, { data: { file }, cause });
  }
}
