// Starts MCP servers as backends for tests: the fixture server of the conformance tests, and public servers.

import { fileURLToPath } from 'node:url';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { type Program, startProgram } from './mcp-program.ts';

export interface ServerSettings {
  readonly transport: 'http' | 'sse' | 'stdio';
  /** Eras of the protocol that the server supports. Public servers ignore this setting. */
  readonly eras: 'session' | 'stateless' | 'session,stateless';
}

/** How to reach a server: its URL, or for stdio the command that starts it. */
export interface Backend {
  readonly url: URL;
  readonly command: string[];
  /** Complete environment of the command. */
  readonly env?: Record<string, string>;
}

export interface RunningServer {
  readonly backend: Backend;
  stop(): Promise<void>;
}

export type StartServer = (settings: ServerSettings) => Promise<RunningServer>;

const NO_URL = new URL('http://127.0.0.1');

function moduleFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

function ofCommand(args: readonly string[], env?: Record<string, string>): RunningServer {
  return { backend: { url: NO_URL, command: [process.execPath, ...args], env }, stop: () => Promise.resolve() };
}

function ofProgram(program: Program, url: string): RunningServer {
  return { backend: { url: new URL(url), command: [] }, stop: () => program.stop() };
}

export const startFixture: StartServer = async ({ transport, eras }) => {
  const args = [moduleFile('test/conformance/fixture/server-process.ts'), '--transport', transport, '--eras', eras];
  if (transport === 'stdio') return ofCommand(args);
  const program = startProgram([...args, '--port', '0']);
  const [url] = await program.printed(/^http:\S+$/m);
  return ofProgram(program, url);
};

/** Starts `@modelcontextprotocol/server-everything`. */
export const startEverything: StartServer = async ({ transport }) => {
  const file = moduleFile('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  if (transport === 'stdio') return ofCommand([file, 'stdio']);
  const port = await freePort();
  const program = startProgram([file, transport === 'sse' ? 'sse' : 'streamableHttp'], { PORT: String(port) });
  await program.printed(/on port \d+/);
  return ofProgram(program, `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`);
};

/** Returns the command of `@modelcontextprotocol/server-filesystem`, which supports only stdio. */
export function filesystemServer(folder: string): StartServer {
  const file = moduleFile('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
  return () => Promise.resolve(ofCommand([file, folder]));
}

/** Returns the command of `@modelcontextprotocol/server-memory`, which supports only stdio. */
export function memoryServer(memoryFile: string): StartServer {
  const file = moduleFile('node_modules/@modelcontextprotocol/server-memory/dist/index.js');
  return () => Promise.resolve(ofCommand([file], { MEMORY_FILE_PATH: memoryFile }));
}
