// Starts Git servers over SSH and the git protocol. Each connection to their port on loopback starts a process of its
// own (`sshd -i`, `git daemon --inetd`).

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createRepository, type TestRepository, temporaryFolder } from './git-server.ts';

export interface StreamServer {
  readonly port: number;
  /** Connections since the start or the last `forget()`, with the number of bytes sent to the client. */
  readonly connections: readonly { bytes: number }[];
  forget(): void;
  /** Creates a repository in the served folder, with a work tree that pushes to it. */
  createRepository(name: string): TestRepository;
  /** The served folder. */
  readonly root: string;
  close(): Promise<void>;
}

/** Returns true if it handles the connection instead of the server, to simulate silence or a broken connection. */
export type Intercept = (socket: Socket) => boolean;

export interface SshServer extends StreamServer {
  /** `ssh://user@127.0.0.1:port` + the served folder. */
  readonly url: string;
  readonly user: string;
  readonly keyFile: string;
  readonly knownHostsFile: string;
  /** The public host key: type and base64. */
  readonly hostKey: string;
  /** Creates a key pair in the folder `keys`. Returns the path of the private key. */
  createKey(name: string, authorized: boolean): string;
  readonly folder: string;
}

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/opt/homebrew/sbin/sshd'].find(existsSync);

/** Returns the reason why tests with sshd are skipped. undefined if sshd is installed. */
export function withoutSshd(): string | undefined {
  if (SSHD !== undefined) return undefined;
  return 'skipped: Git over ssh, as there is no sshd here; install it (apt-get install openssh-server)';
}

/** Starts a server that runs git daemon(1) for each connection. */
export async function startGitDaemon(intercept: Intercept = () => false): Promise<StreamServer> {
  const folder = temporaryFolder();
  const served = `--base-path=${folder.path}`;
  const args = ['daemon', '--inetd', '--export-all', served, '--informative-errors', folder.path];
  return listen({ folder, command: 'git', args, intercept, closed: folder.remove });
}

/** Starts a server that runs sshd(8) for each connection, with new keys. Clients log in as the user of the test run. */
export async function startSshServer(intercept: Intercept = () => false): Promise<SshServer> {
  if (SSHD === undefined) throw new Error(withoutSshd());
  const folder = temporaryFolder();
  const keys = join(folder.path, 'keys');
  mkdirSync(keys);
  // As root, sshd separates privileges in this folder. Normally the start script of the service creates it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const keygen = (file: string) => execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', file]);
  const authorizedFile = join(keys, 'authorized_keys');
  writeFileSync(authorizedFile, '');
  const createKey = (name: string, authorized: boolean) => {
    const file = join(keys, name);
    keygen(file);
    if (authorized) writeFileSync(authorizedFile, readFileSync(`${file}.pub`), { flag: 'a' });
    return file;
  };
  const hostKeyFile = createKey('host', false);
  const keyFile = createKey('user', true);
  const settings = {
    HostKey: hostKeyFile,
    AuthorizedKeysFile: authorizedFile,
    StrictModes: 'no',
    UsePAM: 'no',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    PidFile: 'none',
    AllowTcpForwarding: 'no',
  };
  const configFile = join(keys, 'sshd_config');
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  writeFileSync(configFile, lines.join(''));
  const server = await listen({
    folder,
    command: SSHD,
    args: ['-i', '-f', configFile],
    intercept,
    closed: folder.remove,
  });
  const hostKey = readFileSync(`${hostKeyFile}.pub`, 'utf8').trim();
  const knownHostsFile = join(keys, 'known_hosts');
  writeFileSync(knownHostsFile, `[127.0.0.1]:${server.port} ${hostKey}\n`);
  chmodSync(folder.path, 0o755);
  const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
  const url = `ssh://${user}@127.0.0.1:${server.port}${folder.path}`;
  return { ...server, url, user, keyFile, knownHostsFile, hostKey, createKey, folder: keys };
}

interface ListenOptions {
  readonly folder: { readonly path: string };
  readonly command: string;
  readonly args: readonly string[];
  readonly intercept: Intercept;
  readonly closed: () => void;
}

async function listen({ folder, command, args, intercept, closed }: ListenOptions): Promise<StreamServer> {
  const connections: { bytes: number }[] = [];
  const sockets = new Set<Socket>();
  const processes = new Set<ChildProcess>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    const connection = { bytes: 0 };
    connections.push(connection);
    if (intercept(socket)) return;
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    processes.add(child);
    child.once('close', () => processes.delete(child));
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => {
      connection.bytes += chunk.length;
    });
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    forget: () => connections.splice(0),
    createRepository: (name) => createRepository(join(folder.path, `${name}.work`), join(folder.path, name)),
    root: folder.path,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      const ends = [...processes].map((child) => new Promise((done) => child.once('close', done)));
      for (const child of processes) child.kill('SIGKILL');
      await Promise.all([...ends, new Promise((done) => server.close(done))]);
      closed();
    },
  };
}
