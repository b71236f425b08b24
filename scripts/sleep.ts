// `node scripts/sleep.ts [servers]`: runs `skep dev` of dist/ with servers that sleep, half of them over standard streams and half
// over HTTP, and prints the memory at rest, the time that first calls wait, and the starts for 200 calls at once.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SERVERS = Number(process.argv[2] ?? 50);
const CROWD = 200;
const [SKEP, SLEEPER] = ['../dist/skep.js', '../test/gateway/proxy/sleeper.mjs'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const BODY = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
});

interface Server {
  readonly name: string;
  readonly url: string;
  readonly ready: boolean;
}

/** Not in /tmp, which is a folder of its own for each pod. */
const folder = mkdtempSync('/var/tmp/skep-sleep-');
const names = Array.from({ length: SERVERS }, (_, index) => `server-${index + 1}`);

function writeFleet(): void {
  const repository = join(folder, 'fleet');
  mkdirSync(repository);
  const documents = names.map((name, index) => {
    const http = index % 2 === 1;
    return JSON.stringify({
      ...{ apiVersion: 'toolhive.stacklok.dev/v1beta1', kind: 'MCPServer' },
      metadata: { name, namespace: 'default', annotations: { 'skep.dev/sleep-after': '1m' } },
      spec: {
        image: 'images.example.com/sleeper:1',
        transport: http ? 'streamable-http' : 'stdio',
        args: [http ? 'http' : 'stdio', join(folder, name)],
      },
    });
  });
  writeFileSync(join(repository, 'fleet.yaml'), documents.join('\n---\n'));
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args]);
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'Servers that sleep');
  const images = [{ image: 'images.example.com/sleeper:*', command: [process.execPath, SLEEPER] }];
  const sources = [{ name: 'fleet', repository: pathToFileURL(repository).href, branch: 'main' }];
  writeFileSync(join(folder, 'skep.yaml'), JSON.stringify({ name: 'sleep', sources, dev: { images } }));
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Starts of a server so far. */
function startsOf(name: string): number {
  try {
    return readFileSync(join(folder, name), 'utf8').trim().split('\n').length;
  } catch {
    return 0;
  }
}

/** Memory of the processes whose command line has all words, in MiB; shared pages count in parts (Linux, smaps_rollup). */
function memory(...words: readonly string[]): { readonly processes: number; readonly mib: number } {
  const sizes = readdirSync('/proc').flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!/^\d+$/.test(pid) || !words.every((word) => command.includes(word))) return [];
      return [Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)];
    } catch {
      // The process has ended meanwhile.
      return [];
    }
  });
  return { processes: sizes.length, mib: Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024) };
}

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > 600_000) throw new Error(`not within 10 minutes: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  say(`${what}: after ${Math.round((performance.now() - began) / 1000)} s`);
}

function quantile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)} ms`;
}

async function call({ url }: Pick<Server, 'url'>, token: string): Promise<number> {
  const began = performance.now();
  const headers = { ...TYPES, authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: 'POST', headers, body: BODY });
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  await response.text();
  return performance.now() - began;
}

function report(state: string): void {
  const parts = { servers: memory(SLEEPER ?? '', folder), proxies: memory('\0proxy\0--config=', folder) };
  say(`${state}: ${JSON.stringify(parts)}`);
}

async function measure(origin: string, token: string): Promise<void> {
  const list = async () => ((await (await fetch(`${origin}/mcp`)).json()) as { servers: Server[] }).servers;
  const isAsleep = () => memory(SLEEPER ?? '', folder).processes === 0;
  await until(
    `${SERVERS} servers are ready`,
    async () => (await list()).filter(({ ready }) => ready).length === SERVERS,
  );
  report('awake');
  await until('all are asleep', isAsleep);
  report('asleep');
  const servers = await list();
  for (const [kind, remainder] of [
    ['stdio', 1],
    ['streamable-http', 0],
  ] as const) {
    const waits: number[] = [];
    for (const server of servers.filter(({ name }) => Number(name.slice(7)) % 2 === remainder))
      waits.push(await call(server, token));
    say(`first calls over ${kind}: ${waits.length}, p50 ${quantile(waits, 0.5)}, p99 ${quantile(waits, 0.99)}`);
  }
  await until('all are asleep again', isAsleep);
  for (const server of servers.slice(0, 2)) {
    const before = startsOf(server.name);
    const waits = await Promise.all(Array.from({ length: CROWD }, () => call(server, token)));
    const starts = startsOf(server.name) - before;
    say(
      `${CROWD} calls at once of ${server.name}: ${starts} start, p50 ${quantile(waits, 0.5)}, p99 ${quantile(waits, 0.99)}`,
    );
  }
}

writeFleet();
const dev = spawn(
  process.execPath,
  [SKEP ?? '', 'dev', '--port', '0', '-c', 'skep.yaml', '--data', join(folder, 'data')],
  {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
try {
  const output = await new Promise<string>((resolve) => {
    let all = '';
    dev.stdout.setEncoding('utf8').on('data', (text: string) => {
      all += text;
      if (all.includes('Ctrl-C stops everything')) resolve(all);
    });
  });
  const [origin] = /(?<=console +)http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
  const [, token = ''] = /^token +(\S+)/m.exec(output) ?? [];
  await measure(origin ?? '', token);
} finally {
  dev.kill('SIGTERM');
  await new Promise((resolve) => dev.once('exit', resolve));
  rmSync(folder, { recursive: true, force: true });
}
