// Starts a Git server over HTTP on loopback that runs `git http-backend` and records requests and responses. Creates
// repositories with the git command.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

interface Exchange {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly status: number;
}

export interface GitServerOptions {
  /** If set, requests without these Basic credentials get a 401. */
  readonly auth?: { readonly username: string; readonly password: string };
  /** Returns true if it handles the request instead of Git, to simulate redirects, errors or silence. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface GitServer {
  /** `http://127.0.0.1:<port>`. The repository `x.git` has the URL `<url>/x.git`. */
  readonly url: string;
  /** All requests with their responses since the start or the last `forget()`. */
  readonly exchanges: readonly Exchange[];
  forget(): void;
  /** Creates the repository `<name>` in the served folder, with a work tree that pushes to it. */
  createRepository(name: string): TestRepository;
  close(): Promise<void>;
}

export interface TestRepository {
  /** Folder of the repository. For a served repository, the folder of the bare repository. */
  readonly dir: string;
  /** Runs git in the work tree and returns its output, trimmed. */
  git(...args: readonly string[]): string;
  /** Writes the files, commits and publishes. Returns the commit id. undefined as content deletes the file. */
  commit(files: Readonly<Record<string, string | Uint8Array | undefined>>, message?: string): string;
  /** Replaces the branches and tags of the server by those of the work tree. */
  publish(): void;
}

/** Excludes the user's Git settings. Fixed authors and dates give commits with equal content equal ids. */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/** Creates a temporary folder. Its path contains no symbolic links. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'skep-git-')));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Creates a repository with a work tree at `dir`. If `published` is set, pushes commits to a bare copy at this path.
 */
export function createRepository(dir: string, published?: string): TestRepository {
  mkdirSync(dir, { recursive: true });
  const git = (...args: readonly string[]) => runGit(dir, args);
  git('init', '--quiet', '--initial-branch=main');
  if (published !== undefined) {
    mkdirSync(published, { recursive: true });
    runGit(published, ['init', '--quiet', '--bare', '--initial-branch=main']);
  }
  const publish = () => {
    if (published !== undefined) git('push', '--quiet', '--mirror', published);
  };
  const commit: TestRepository['commit'] = (files, message = 'change') => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      if (content === undefined) rmSync(join(dir, path));
      else writeFileSync(join(dir, path), content);
    }
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', message);
    publish();
    return git('rev-parse', 'HEAD');
  };
  return { dir: published ?? dir, git, commit, publish };
}

export async function startGitServer(options: GitServerOptions = {}): Promise<GitServer> {
  const folder = temporaryFolder();
  const exchanges: Exchange[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    if (options.intercept?.(request, response)) return;
    if (!isAuthorized(request, options)) {
      exchanges.push({ ...namesOf(request), requestBytes: 0, responseBytes: 0, status: 401 });
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    answer(folder.path, request, response).then(
      (exchange) => exchanges.push(exchange),
      () => response.destroy(),
    );
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    forget: () => exchanges.splice(0),
    createRepository: (name) => createRepository(join(folder.path, `${name}.work`), join(folder.path, name)),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
      folder.remove();
    },
  };
}

function runGit(cwd: string, args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd,
    env: ENVIRONMENT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

function namesOf(request: IncomingMessage): { method: string; path: string } {
  return { method: request.method ?? '', path: request.url ?? '' };
}

function isAuthorized(request: IncomingMessage, { auth }: GitServerOptions): boolean {
  if (auth === undefined) return true;
  const expected = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
  return request.headers.authorization === `Basic ${expected}`;
}

/** Handles a request by a CGI call (RFC 3875) of git-http-backend(1). */
async function answer(root: string, request: IncomingMessage, response: ServerResponse): Promise<Exchange> {
  const body = await collect(request);
  const { pathname, search } = new URL(request.url ?? '/', 'http://server');
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...ENVIRONMENT,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: String(body.length),
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  backend.stdin.on('error', () => undefined).end(body);
  const output = await collect(backend.stdout);
  const headerEnd = output.indexOf('\r\n\r\n');
  const content = output.subarray(headerEnd + 4);
  let status = 200;
  for (const line of output.toString('latin1', 0, headerEnd).split('\r\n')) {
    const colon = line.indexOf(':');
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
    if (name === 'Status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status, { 'content-length': content.length }).end(content);
  return { ...namesOf(request), requestBytes: body.length, responseBytes: content.length, status };
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
