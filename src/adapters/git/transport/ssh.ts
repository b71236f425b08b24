// Runs git-upload-pack of a repository by the system's ssh: with one key, known hosts only, no shell, and no settings of
// whoever runs us. Knows nothing about what is said over the connection.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure } from '#std/failure.ts';
import type { Outbound } from '../../http/outbound.ts';
import type { SshLocation } from '../location.ts';
import type { GitStream } from './pipe.ts';
import { sshComplaint } from './ssh-complaint.ts';

export interface SshKeys {
  /** Private key without a passphrase. */
  readonly keyFile: string;
  /** The keys of the servers that are trusted, as `ssh-keyscan` writes them. */
  readonly knownHostsFile: string;
}

export interface SshOptions extends SshKeys {
  readonly location: SshLocation;
  readonly outbound: Outbound;
}

const SSH_PORT = 22;
const CONNECT_TIMEOUT_SECONDS = 10;
const MAX_STDERR_CHARACTERS = 16_384;

/** Throws Failure `git-ssh-key-unusable` or `git-unreachable`; what ssh says of the server is the stream's complaint. */
export async function openSsh(options: SshOptions, signal: AbortSignal): Promise<GitStream> {
  await checkFiles(options);
  const addresses = await options.outbound.permitted(options.location.host, options.location.url);
  for (const address of addresses.slice(0, -1)) {
    const stream = started(options, address, signal);
    if (await spoke(stream)) return stream;
    const complaint = await stream.complaint();
    if (complaint?.code !== 'git-unreachable') throw complaint;
  }
  return started(options, addresses.at(-1) ?? options.location.host, signal);
}

function started(options: SshOptions, address: string, signal: AbortSignal): GitStream {
  // SIGKILL: there is nothing that ssh would have to put in order.
  const child = spawn('ssh', argumentsOf(options, address), { signal, killSignal: 'SIGKILL' });
  // Its end tells; without a listener an error of the pipe to it would end the process.
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

/** A server speaks first; where there is none, the output ends without a byte. */
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
 * ssh_config(5). The address that was checked is the one connected to; the server is known by the name in the URL all the
 * same. `-F none`: a ProxyCommand or an agent of whoever runs us would go around what is configured here.
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

/** For the server's shell, or git-shell(1), which undoes just this. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replaceAll('!', "'\\!'")}'`;
}

/** Quotes keep spaces together; `%` and `$` would be expanded (ssh_config(5), TOKENS). */
function quotedPath(path: string): string {
  return `"${resolve(path).replaceAll('%', '%%')}"`;
}

/** sshd and ssh demand the same of keys that are the user's own; a mounted Secret is root's and readable by a group. */
async function checkFiles({ keyFile, knownHostsFile }: SshKeys): Promise<void> {
  for (const file of [keyFile, knownHostsFile]) {
    if (/["\\$\p{Cc}]/u.test(file)) throw unusable(file, 'its path has a character that ssh gives a meaning to');
    const found = await stat(file).catch(() => undefined);
    const readable = await access(file, constants.R_OK).then(
      () => found?.isFile() === true,
      () => false,
    );
    if (!readable) throw unusable(file, 'it cannot be read');
  }
  const { mode, uid } = await stat(keyFile);
  const others = uid === process.getuid?.() ? 0o077 : 0o007;
  if ((mode & others) !== 0) throw unusable(keyFile, `its mode ${(mode & 0o777).toString(8)} lets others read it`);
}

function unusable(file: string, reason: string): Failure {
  return new Failure('git-ssh-key-unusable', `${file}: ${reason}`, { data: { file } });
}
