// Runs git-upload-pack of a repository through the system's ssh: with one key, only known hosts, no shell, and without
// the settings of the current user.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';
import type { Outbound } from '../../http/outbound.ts';
import type { SshLocation } from '../location.ts';
import type { GitStream } from './pipe.ts';
import { sshComplaint } from './ssh-complaint.ts';
import { readKeyText } from './ssh-key.ts';
import { removeLeftCopies, useKeyCopy } from './ssh-key-copy.ts';

export interface SshKeys {
  /** Path of a private key without a passphrase. */
  readonly keyFile: string;
  /** Path of the file with the host keys of trusted servers, as `ssh-keyscan` writes it. */
  readonly knownHostsFile: string;
}

export interface SshOptions extends SshKeys {
  readonly location: SshLocation;
  readonly outbound: Outbound;
  /** Writable folder for the copy of a key whose text had to be repaired. */
  readonly dir: string;
  readonly clock: Pick<Clock, 'now'>;
}

const SSH_PORT = 22;
const CONNECT_TIMEOUT_SECONDS = 10;
const MAX_STDERR_CHARACTERS = 16_384;
const MAX_KEY_BYTES = 64 * 1024;

/**
 * Throws Failure `git-ssh-key-unusable`, `git-ssh-key-locked` or `git-state-unwritable`, failures of
 * `outbound.permitted`, and the failure of ssh at an address before the last. The stream's `complaint` contains the
 * failure of ssh at the last address.
 */
export async function openSsh(options: SshOptions, signal: AbortSignal): Promise<GitStream> {
  await removeLeftCopies(options.dir, options.clock);
  await checkFiles(options);
  const bytes = await readFile(options.keyFile);
  const key = readKeyText(textOfFile(bytes, options.keyFile, 'git-ssh-key-unusable'));
  if (key.type === 'unreadable') throw unusable(options.keyFile, key.reason);
  if (key.type === 'locked') throw locked(options.keyFile);
  return bytes.equals(Buffer.from(key.text))
    ? connectWith(options, signal)
    : connectWithCopy(options, key.text, signal);
}

/** Removes the key's copy after the first byte of the server, which the server sends only after it accepted the key. */
async function connectWithCopy(options: SshOptions, text: string, signal: AbortSignal): Promise<GitStream> {
  checkPath(options.dir);
  return useKeyCopy(options.dir, text, async (keyFile) => {
    const stream = await connectWith({ ...options, keyFile }, signal);
    await spoke(stream);
    return stream;
  });
}

async function connectWith(options: SshOptions, signal: AbortSignal): Promise<GitStream> {
  const addresses = await options.outbound.permitted(options.location.host, options.location.url);
  for (const address of addresses.slice(0, -1)) {
    const stream = started(options, address, signal);
    if (await spoke(stream)) return stream;
    const complaint = await stream.complaint();
    if (complaint !== undefined && complaint.code !== 'git-unreachable') throw complaint;
  }
  return started(options, addresses.at(-1) ?? options.location.host, signal);
}

function started(options: SshOptions, address: string, signal: AbortSignal): GitStream {
  // Kills ssh with SIGKILL, because ssh has nothing to clean up.
  const child = spawn('ssh', argumentsOf(options, address), { signal, killSignal: 'SIGKILL' });
  // The end of ssh reports errors. Without a listener, an error of its input pipe would end the process.
  child.stdin.on('error', () => undefined);
  const ended = endOf(child);
  return {
    input: child.stdin,
    output: child.stdout,
    complaint: () => ended,
    destroy: (error) => {
      child.kill('SIGKILL');
      child.stdout.destroy(error);
    },
  };
}

/**
 * True if the server sent a byte. git-upload-pack sends first. Without a connection, the output ends without a byte.
 */
async function spoke({ output }: GitStream): Promise<boolean> {
  await once(output, 'readable');
  return output.readableLength > 0;
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<Failure | undefined> {
  let says = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    says = (says + chunk).slice(0, MAX_STDERR_CHARACTERS);
  });
  return new Promise((done) => {
    let cause: unknown;
    child.once('error', (error) => {
      cause = error;
    });
    child.once('close', (code) => done(sshComplaint({ code, says, cause })));
  });
}

/**
 * Returns the arguments of ssh with options of ssh_config(5). ssh connects to the checked address, and verifies the
 * host key by the name in the URL. `-F none` ignores the user's configuration, whose ProxyCommand or agent would bypass
 * these settings.
 */
function argumentsOf({ location, keyFile, knownHostsFile }: SshOptions, address: string): string[] {
  const { host, port, user, path } = location;
  const name = host.startsWith('[') ? host.slice(1, -1) : host;
  const settings = {
    HostName: address,
    HostKeyAlias: port === SSH_PORT ? name : `[${name}]:${port}`,
    CheckHostIP: 'no',
    StrictHostKeyChecking: 'yes',
    UserKnownHostsFile: quotedPath(knownHostsFile),
    GlobalKnownHostsFile: 'none',
    UpdateHostKeys: 'no',
    IdentityFile: quotedPath(keyFile),
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    PreferredAuthentications: 'publickey',
    BatchMode: 'yes',
    ClearAllForwardings: 'yes',
    ControlPath: 'none',
    ConnectTimeout: String(CONNECT_TIMEOUT_SECONDS),
    ServerAliveInterval: '15',
    ServerAliveCountMax: '4',
    LogLevel: 'ERROR',
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  const command = `git-upload-pack ${quotedForShell(path)}`;
  return ['-F', 'none', '-T', '-x', '-a', ...options, '-p', String(port), '-l', user, '--', name, command];
}

/** Quotes a path for the server's shell. git-shell(1) accepts exactly this quoting. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replaceAll('!', "'\\!'")}'`;
}

/** Quotes a path that may contain spaces. Escapes `%`, which ssh would expand (ssh_config(5), TOKENS). */
function quotedPath(path: string): string {
  return `"${resolve(path).replaceAll('%', '%%')}"`;
}

/**
 * Checks that the files are readable and that other users cannot read the key. ssh itself checks only keys that belong
 * to the current user. The group may read the key of another user, because a mounted Secret belongs to root.
 */
async function checkFiles({ keyFile, knownHostsFile }: SshKeys): Promise<void> {
  for (const file of [keyFile, knownHostsFile]) {
    checkPath(file);
    const found = await stat(file).catch(() => undefined);
    const readable = await access(file, constants.R_OK).then(
      () => found?.isFile() === true,
      () => false,
    );
    if (!readable) throw unusable(file, 'it cannot be read');
  }
  const { mode, uid, size } = await stat(keyFile);
  const others = uid === process.getuid?.() ? 0o077 : 0o007;
  if ((mode & others) !== 0) throw unusable(keyFile, `its mode ${(mode & 0o777).toString(8)} lets others read it`);
  if (size > MAX_KEY_BYTES) throw unusable(keyFile, `it has ${size} bytes, which is too much for a private key`);
}

function locked(file: string): Failure {
  const remedy = `remove the passphrase (ssh-keygen -p -N '' -f ${file}), or use a deploy key without one`;
  return new Failure('git-ssh-key-locked', `${file}: the key has a passphrase, which skep cannot enter: ${remedy}`, {
    data: { file },
  });
}

/** Refuses characters that ssh interprets even within the quotes of `quotedPath`. */
function checkPath(file: string): void {
  if (/["\\$\p{Cc}]/u.test(file)) throw unusable(file, 'its path has a character that ssh gives a meaning to');
}

function unusable(file: string, reason: string): Failure {
  return new Failure('git-ssh-key-unusable', `${file}: ${reason}`, { data: { file } });
}
