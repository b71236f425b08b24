// `skep dev` as a newcomer uses it: one command, and everything runs; Ctrl-C, and nothing is left but the state; and when
// it is killed, the next start finds its way. The tests are one story: each goes on where the one before it has left off.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, afterEach, expect, test } from 'vitest';
import { expectInReadme, type Places } from '../docs/readme-sample.ts';
import { eventually } from '../harness/cluster.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { type Running, skep, startSkep } from '../harness/skep.ts';

const folder = temporaryFolder();
const data = join(folder.path, '.skep/dev');
const READY = 'Ctrl-C stops everything';

let running: Running | undefined;

function start(...more: readonly string[]): Running {
  running = startSkep(['dev', '--data', data, '--port', '0', ...more], { cwd: folder.path });
  return running;
}

afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.finished;
});

afterAll(async () => {
  await expectGone(processesNaming(data));
  folder.remove();
});

interface Process {
  readonly pid: number;
  /** With the time of its start: numbers are used again. */
  readonly identity: string;
  readonly parent: number;
  readonly command: string;
}

/** All processes of this machine (proc(5)); dead ones that no one has collected yet are left out. */
function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (state === 'Z') return [];
      return [{ pid: Number(name), identity: `${name} ${rest[17]}`, parent: Number(parent), command }];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });
}

function descendants(pid: number): Process[] {
  const all = processes();
  const found: Process[] = [];
  const parents = [pid];
  for (let parent = parents.shift(); parent !== undefined; parent = parents.shift()) {
    const children = all.filter((each) => each.parent === parent);
    found.push(...children);
    parents.push(...children.map((child) => child.pid));
  }
  return found;
}

function processesNaming(text: string): Process[] {
  return processes().filter(({ command }) => command.includes(text));
}

async function expectGone(expected: readonly Process[]): Promise<void> {
  const identities = new Set(expected.map(({ identity }) => identity));
  const left = await eventually(
    async () => processes().filter(({ identity }) => identities.has(identity)),
    (alive) => alive.length === 0,
  );
  expect(left).toEqual([]);
}

interface Listed {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind
  readonly items: readonly any[];
}

/** Through the kubeconfig that was printed. */
async function list(path: string): Promise<Listed['items']> {
  const config = JSON.parse(readFileSync(join(data, 'cluster', 'kubeconfig'), 'utf8'));
  const { server, 'certificate-authority-data': ca } = config.clusters[0].cluster;
  const agent = new Agent({ connect: { ca: Buffer.from(ca, 'base64').toString() } });
  try {
    const headers = { authorization: `Bearer ${config.users[0].user.token}` };
    const { body } = await request(server + path, { dispatcher: agent, headers });
    const { items } = (await body.json()) as Listed;
    return items;
  } finally {
    await agent.close();
  }
}

const RESOURCES = [
  '/api/v1/namespaces',
  '/api/v1/configmaps',
  '/api/v1/services',
  '/api/v1/serviceaccounts',
  '/apis/rbac.authorization.k8s.io/v1/roles',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/apps/v1/deployments',
  '/apis/apps/v1/statefulsets',
  '/apis/toolhive.stacklok.dev/v1alpha1/mcpgroups',
  '/apis/toolhive.stacklok.dev/v1alpha1/mcpservers',
  '/apis/toolhive.stacklok.dev/v1alpha1/mcpregistries',
];

/** What exists, each with one member of its metadata. */
async function living(member: 'uid' | 'resourceVersion'): Promise<Record<string, string>> {
  const lists = await Promise.all(RESOURCES.map(async (path) => ({ path, items: await list(path) })));
  const entries = lists.flatMap(({ path, items }) =>
    items.map(({ metadata }) => [`${path.split('/').at(-1)} ${metadata.namespace}/${metadata.name}`, metadata[member]]),
  );
  return Object.fromEntries(entries);
}

/** Names of all servers, page after page. */
async function catalogue(url: string): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: unknown = await (await fetch(`${url}?limit=50${cursor}`)).json();
    const { servers, metadata } = page as Page;
    names.push(...servers.map(({ server }) => server.name));
    cursor = metadata.nextCursor === undefined ? undefined : `&cursor=${encodeURIComponent(metadata.nextCursor)}`;
  }
  return names;
}

interface Page {
  readonly servers: readonly { readonly server: { readonly name: string } }[];
  readonly metadata: { readonly nextCursor?: string };
}

let uids: Record<string, string> = {};

test('--once brings everything up, syncs, prints where things are, and leaves nothing running', async () => {
  // The next start is a first one, as in README.md.
  const own = join(folder.path, 'once');
  const once = start('--once', '--data', own);
  await once.printed('database at 127.0.0.1:');
  const children = descendants(once.pid);
  expect(children.map(({ command }) => command).join()).toContain('postgres');
  const { code, stdout, stderr } = await once.finished;
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/cluster at https:\/\/127\.0\.0\.1:\d+/);
  expect(stdout).toContain('registry platform/catalogue/all: synced, 102 servers');
  // The objects are counted, and nothing distracts from what a newcomer does wrong.
  expect(stdout).toMatch(/created \d+ objects for \d+ declared resources \(-v names each\)\n/);
  expect(stdout).not.toMatch(/ (?:created\n|warning )/);
  await expectGone([...children, ...processesNaming(own)]);
});

test('the commands that it prints work, a commit shows, and Ctrl-C stops everything', async () => {
  const dev = start();
  const output = await dev.printed(READY);
  const children = descendants(dev.pid);

  const curl = /^ +(curl .*)$/m.exec(output)?.[1] ?? '';
  expect(JSON.parse(execFileSync('sh', ['-c', curl], { encoding: 'utf8' })).servers).toHaveLength(3);
  const url = /'(http[^?']*)/.exec(curl)?.[1] ?? '';
  expect(await catalogue(url)).toHaveLength(102);

  const places: Places = {
    data,
    origin: new URL(url).origin,
    command: /^ +(.*) call http/m.exec(output)?.[1] ?? '',
  };
  const [guide = ''] = /^[\s\S]*Ctrl-C stops everything; the state stays\.\n/.exec(output) ?? [];
  expectInReadme('issuer at ', guide, places);
  await untilRunning();
  await makeAndFixMistake(dev, places);
  const [, config = ''] = / status -c (\S+)/.exec(output) ?? [];
  expect((await skep(['status', '-c', config], { cwd: folder.path })).stdout).toContain('source fleet at ');
  const { runs } = (await (await fetch(`${/^console +(\S+)$/m.exec(output)?.[1]}runs`)).json()) as { runs: unknown[] };
  expect(runs.length).toBeGreaterThan(0);
  uids = await living('uid');
  const before = await living('resourceVersion');
  commitChange();
  await eventually(
    () => living('resourceVersion'),
    (now) =>
      now['statefulsets ops/feasts'] !== undefined &&
      now['mcpservers ops/journal'] === undefined &&
      now['statefulsets ops/holidays'] !== before['statefulsets ops/holidays'],
  );
  await dev.printed('ops/MCPServer/journal deleted');

  // The group's members have changed, and with them what the virtual server in front of it serves.
  const others = ['mcpgroups ops/ops'];
  const moved = async () => {
    const after = await living('resourceVersion');
    const ids = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return ids.filter((id) => before[id] !== after[id]);
  };
  const all = await eventually(moved, (ids) => others.every((id) => ids.includes(id)));
  // The calendar is in front of holidays. The inventory lists all objects, and the ApplySet (default/skep-dev) all kinds: the only
  // MCPOIDCConfig leaves with the journal.
  expect(all.filter((id) => !/journal|holidays|feasts|calendar|inventory|default\/skep-dev$/.test(id)).sort()).toEqual(
    others,
  );

  dev.kill('SIGINT');
  const { code, stderr } = await dev.finished;
  expect([code, stderr]).toEqual([0, '']);
  await expectGone([...children, ...processesNaming(data)]);
  await expect(fetch(url)).rejects.toThrow();
});

/** As README.md does: a misspelled field is named with its place, and so is its end. */
async function makeAndFixMistake(dev: Running, places: Places): Promise<void> {
  const file = join(data, 'fleet', 'cluster', 'docs', 'handbook.yaml');
  const text = readFileSync(file, 'utf8');
  const from = dev.output().length;
  writeFileSync(file, text.replace('groupRef', 'gruopRef'));
  commitAll('A mistake');
  await dev.printed('schema-unknown-field');
  writeFileSync(file, text);
  commitAll('Without the mistake');
  await dev.printed('no problems any more');
  const printed = dev.output().slice(from);
  const told = /\[[^\]]*\] cluster\/docs\/handbook\.yaml[\s\S]*no problems any more\n/.exec(printed) ?? [];
  expectInReadme('cluster/docs/handbook.yaml', told[0] ?? '', places);
}

/** Processes of every server, and the status of each says so. */
async function untilRunning(): Promise<void> {
  await eventually(
    () => list('/apis/toolhive.stacklok.dev/v1alpha1/mcpservers'),
    (servers) => servers.length === 4 && servers.every(({ status }) => status?.phase === 'Running'),
  );
  await eventually(
    () => list('/apis/toolhive.stacklok.dev/v1alpha1/mcpremoteproxies'),
    (proxies) => proxies.every(({ status }) => status?.phase === 'Ready'),
  );
  // They wait for what is behind them.
  await eventually(
    () => list('/apis/toolhive.stacklok.dev/v1alpha1/virtualmcpservers'),
    (servers) => servers.length > 0 && servers.every(({ status }) => status?.phase === 'Ready'),
  );
}

/** One server comes, one changes its image, one leaves. */
function commitChange(): void {
  const ops = join(data, 'fleet', 'cluster', 'ops');
  const text = readFileSync(join(ops, 'holidays.yaml'), 'utf8');
  const image = /image: (\S+)/.exec(text)?.[1] ?? '';
  writeFileSync(join(ops, 'holidays.yaml'), text.replace(image, `${image}-next`));
  writeFileSync(
    join(ops, 'feasts.yaml'),
    text.replace('name: holidays', 'name: feasts').replace('tools-lock: enforce', 'tools-lock: report'),
  );
  rmSync(join(ops, 'journal.yaml'));
  commitAll('One comes, one changes, one leaves');
}

function commitAll(message: string): void {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  const git = (...args: string[]) => execFileSync('git', ['-C', join(data, 'fleet'), ...identity, ...args]);
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
}

/** As the console has its readers copy it. */
async function commandOfPage(dev: Running, words: string): Promise<string> {
  const [, url = ''] = /^console +(\S+)$/m.exec(dev.output()) ?? [];
  const shell = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const [, template = ''] = /data-command="([^"]*)"/.exec(shell) ?? [];
  return decodeURIComponent(template).replace('WORDS', words);
}

/** More than a run deletes by itself; the printed command lets it go. */
async function approveDeletion(dev: Running): Promise<void> {
  rmSync(join(data, 'fleet', 'cluster', 'docs'), { recursive: true });
  commitAll('Docs leaves');
  const printed = async (pattern: RegExp) => pattern.exec(dev.output())?.[1];
  const command = await eventually(
    () => printed(/to delete exactly these: (.+)\n/),
    (found) => found !== undefined,
  );
  expect(await commandOfPage(dev, /approve \w+/.exec(command ?? '')?.[0] ?? '')).toBe(command);
  execFileSync('sh', ['-c', command ?? ''], { cwd: folder.path });
  await eventually(
    () => printed(/ ([1-9]\d*) deleted, 0 held, 0 failed/),
    (found) => found !== undefined,
  );
  expect(dev.output()).toContain('docs/MCPServer/notes deleted');
}

test('a restart keeps the state; killed, it takes PostgreSQL along, and can be started again at once', async () => {
  const dev = start();
  await dev.printed(READY);
  const now = await living('uid');
  const kept = Object.entries(uids).filter(([id]) => !id.includes('journal'));
  expect(kept.length).toBeGreaterThan(50);
  expect(kept.filter(([id, uid]) => now[id] !== uid)).toEqual([]);
  await approveDeletion(dev);
  const children = descendants(dev.pid);
  expect(children.length).toBeGreaterThan(0);
  dev.kill('SIGKILL');
  await dev.finished;

  const { code, stdout, stderr } = await start('--once').finished;
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('sample repository exists and is kept unchanged');
  expect(stdout).toMatch(/0 created, \d+ configured, \d+ unchanged, 0 deleted, 0 held, 0 failed/);
  await expectGone(children);
});

test('what fails because the database is gone is said in lines for people, like everything else', async () => {
  const dev = start();
  const output = await dev.printed(READY);
  const database = descendants(dev.pid).find(({ command }) => /postgres -D/.test(command));
  process.kill(database?.pid ?? 0, 'SIGKILL');
  const url = /^registry +(\S+)$/m.exec(output)?.[1] ?? '';
  await eventually(
    async () => (await fetch(`${url}?search=never-asked-before`)).status,
    (status) => status === 503,
  );
  await dev.printed('error the catalogue cannot be read');
  expect(dev.output()).not.toMatch(/^\{/m);
});
