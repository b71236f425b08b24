// Tests bad input and failures outside skep with the real executable: one clear line, the right exit code or status,
// nothing lost, no secret and no stack trace printed. In one file, because the tests share one synced fleet, a real Git
// server and a real PostgreSQL.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT, UnsecuredJWT } from 'jose';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startServer } from '#adapters/postgres/embedded/server.ts';
import { idOf } from '#kubernetes/rules/object.ts';
import { formatId } from '#std/problem.ts';
import { eventually } from '../harness/cluster.ts';
import { type GitServer, startGitServer } from '../harness/git-server.ts';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { type Issuer, startIssuer } from '../harness/issuer.ts';
import { createCluster, type Cluster as DataDirectory } from '../harness/postgres-server.ts';
import type { Finished, Running } from '../harness/skep.ts';
import { startWorld, type World } from '../harness/world.ts';
import { members } from '../reconciler/run/fleet.ts';

/** Is in every file that may hold a secret; never in what is printed. */
const SECRET = 'correct-horse-battery-staple';

let world: World;
let git: GitServer;
let instance: InstanceFolder;
let data: DataDirectory;
let postgres: PostgresServer;
let service: Running;
let serviceUrl: string;

beforeAll(async () => {
  [world, data, git] = await Promise.all([startWorld(), createCluster(), startGitServer({ auth: CREDENTIALS })]);
  postgres = await startServer(data.options);
  instance = instanceFolder(world);
  writeFileSync(join(instance.dir, 'pgpass'), `*:*:*:*:${SECRET}\n`, { mode: 0o600 });
  writeFileSync(join(instance.dir, 'password'), `${SECRET}\n`);
  await createDatabase();
  configure();
  world.fleet.commit(goodFiles());
  expect((await sync()).code).toBe(0);
  [service, serviceUrl] = await serve('registry.yaml');
});

async function serve(file: string): Promise<[Running, string]> {
  const running = instance.start('serve', '-c', file);
  const output = await running.printed('serving ');
  return [running, /serving (\S+)/.exec(output)?.[1] ?? ''];
}

afterAll(async () => {
  service.kill('SIGTERM');
  expect((await service.finished).code).toBe(0);
  await Promise.all([world.close(), git.close(), postgres.stop()]);
  data.remove();
  instance.remove();
});

const CREDENTIALS = { username: 'bot', password: 'the right password' };

async function createDatabase(): Promise<void> {
  const client = new pg.Client({ host: postgres.host, port: postgres.port, user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query('create role db_app login');
  await client.query('create database registry');
  await client.end();
  writeFileSync(join(instance.dir, 'registry.yaml'), JSON.stringify(serviceConfig({ mode: 'anonymous' })));
  const { code, stdout } = await run('migrate', 'up');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^applied /)]);
}

function database(): object {
  const { host, port } = postgres;
  const passFile = join(instance.dir, 'pgpass');
  return { host, port, user: 'db_app', migrationUser: 'postgres', database: 'registry', sslMode: 'disable', passFile };
}

function serviceConfig(auth: object): object {
  return {
    registryName: 'catalogue',
    namespace: 'tools',
    listen: { host: '127.0.0.1', port: 0 },
    // Synced by the runs of the instance, as where an MCPRegistry renders it.
    registries: [{ name: 'all', file: { path: 'registry.json' }, syncedBy: 'reconciler' }],
    database: database(),
    auth,
  };
}

function configure(changes: object = {}): void {
  instance.configure({ catalogue: { database: database() }, ...changes });
}

async function run(...args: readonly string[]): Promise<Finished> {
  const finished = await instance.run(...args);
  expect(`${finished.stdout}${finished.stderr}`).not.toContain(SECRET);
  return finished;
}

function sync(): Promise<Finished> {
  return run('sync');
}

const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: tools}\n';
const GROUP = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPGroup
metadata: {name: team, namespace: tools}
`;
const SERVER = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: clock, namespace: tools}
spec:
  image: images.example.com/clock:1.0.0
  transport: stdio
  groupRef: team
`;

/** Every call gives another trigger, so that the source is read at once. */
function registry(trigger: number): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata:
  name: catalogue
  namespace: tools
  annotations: {toolhive.stacklok.dev/sync-trigger: "${trigger}"}
spec:
  registries:
    - name: all
      format: toolhive
      git: {repository: "${world.git.url}/fleet.git", branch: main, path: registry.json}
`;
}

function entry(name: string): object {
  return {
    description: `What ${name} does`,
    tier: 'Community',
    status: 'Active',
    transport: 'stdio',
    tools: ['do'],
    image: `images.example.com/${name}:1.0.0`,
  };
}

function registryFile(servers: Readonly<Record<string, object>>): string {
  return JSON.stringify({ version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers }, null, 2);
}

let triggers = 0;

function goodFiles(): Record<string, string> {
  triggers += 1;
  return {
    'cluster/namespace.yaml': NAMESPACE,
    'cluster/group.yaml': GROUP,
    'cluster/clock.yaml': SERVER,
    'cluster/catalogue.yaml': registry(triggers),
    'registry.json': registryFile({ clock: entry('clock'), news: entry('news') }),
  };
}

async function living(): Promise<string[]> {
  return [...(await members(world.client, 'test')).values()].map((object) => formatId(idOf(object)));
}

/** Names of the catalogue's servers, as clients read them. */
async function served(): Promise<string[]> {
  const { status, body } = await ask('/all/v0.1/servers');
  expect(status).toBe(200);
  return body.servers.map(({ server }: { server: { name: string } }) => server.name);
}

interface Reply {
  readonly status: number;
  readonly challenge: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly body: any;
}

async function ask(path: string, token?: string, url = serviceUrl): Promise<Reply> {
  const response = await fetch(url + path, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  expect(text).not.toMatch(/^\s+at /m);
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body: JSON.parse(text) };
}

/** One commit more, one sync, and what lived and was served before lives and is served. */
async function check(files: Readonly<Record<string, string>>, line: string, code: number): Promise<Finished> {
  const [livedBefore, servedBefore] = [await living(), await served()];
  const commit = world.fleet.commit({ ...goodFiles(), ...files });
  const finished = await sync();
  expect(finished.stdout.split('\n')).toContain(line.replace('COMMIT', commit.slice(0, 12)));
  expect(finished.code).toBe(code);
  expect(await living()).toEqual(livedBefore);
  expect(await served()).toEqual(servedBefore);
  return finished;
}

describe('a manifest', () => {
  const rows = [
    {
      reason: 'broken YAML',
      text: `${SERVER}  broken: [`,
      line: '8:12: error yaml-syntax: A [ above is not closed before this place: write the missing ].',
    },
    {
      reason: 'a duplicate key',
      text: `${SERVER}  transport: sse\n`,
      line: '8:3: error yaml-duplicate-key: The key "transport" is set twice in this mapping. (tools/MCPServer/clock)',
    },
    {
      reason: 'an unknown field',
      text: `${SERVER}  imagee: typo\n`,
      line: '8:3: error schema-unknown-field: spec has no field "imagee", so the API server would drop it. Did you mean "image"? (tools/MCPServer/clock)',
    },
    {
      reason: 'a value that is none of the allowed ones',
      text: SERVER.replace('stdio', 'carrier-pigeon'),
      line: '6:14: error schema-enum: spec.transport must be one of "stdio", "streamable-http", "sse". (tools/MCPServer/clock)',
    },
    {
      reason: 'a reference to a group that does not exist',
      text: SERVER.replace('team', 'dream-team'),
      line: '7:13: error reference-missing: no MCPGroup "dream-team" in namespace tools, neither in Git nor in the cluster (tools/MCPServer/clock)',
    },
  ];
  for (const { reason, text, line } of rows) {
    test(`${reason} is named with its place`, async () => {
      await check({ 'cluster/clock.yaml': text }, `cluster/clock.yaml:${line}`, 3);
    });
  }

  test('two sources in one entry of a registry are named with their place', async () => {
    const text = `${registry(triggers)}      configMapRef: {name: servers, key: servers.json}\n`;
    const line =
      'cluster/catalogue.yaml:9:7: error cel-rule: spec.registries[0]: exactly one of configMapRef, git, api and pvcRef must be set (tools/MCPRegistry/catalogue)';
    await check({ 'cluster/catalogue.yaml': text }, line, 3);
  });
});

describe('a registry file', () => {
  const MCPREGISTRY = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpregistries/catalogue';

  test('that is no JSON is named with its place, and the last good catalogue is served', async () => {
    const line = `${world.git.url}/fleet.git registry.json@COMMIT:1:13: error registry-not-json: not JSON: expected a value`;
    await check({ 'registry.json': '{"servers": oops}' }, line, 3);
    const { body } = await world.cluster.send('GET', MCPREGISTRY);
    expect(body.status).toMatchObject({ phase: 'Ready', syncStatus: { phase: 'Failed', serverCount: 2 } });
    expect(body.status.syncStatus.message).toContain('not JSON');
  });

  test('with an invalid entry is served without it: a warning, and the entry is counted', async () => {
    const servers = { clock: entry('clock'), news: entry('news'), weather: { ...entry('weather'), transport: 7 } };
    const line = `${world.git.url}/fleet.git registry.json@COMMIT:29:7: warning registry-entry-invalid: /servers/weather/transport must be one of stdio, sse, streamable-http`;
    const finished = await check({ 'registry.json': registryFile(servers) }, line, 0);
    expect(finished.stdout).toContain('registry tools/catalogue/all: synced, 2 servers, 1 entry rejected\n');
    const { body } = await world.cluster.send('GET', MCPREGISTRY);
    expect(body.status).toMatchObject({
      phase: 'Ready',
      syncStatus: { phase: 'Complete', serverCount: 2, message: 'synced: all; all: 1 invalid entry left out' },
    });
  });

  test('that makes an entry invalid takes no server away that was served before', async () => {
    const servers = { clock: entry('clock'), news: { ...entry('news'), transport: 7 } };
    const line = `${world.git.url}/fleet.git registry.json@COMMIT:19:7: warning registry-entry-invalid: /servers/news/transport must be one of stdio, sse, streamable-http`;
    await check({ 'registry.json': registryFile(servers) }, line, 0);
  });
});

describe('a repository', () => {
  function sourceOf(repository: string, auth?: object): object {
    return { sources: [{ name: 'fleet', repository, path: 'cluster', ...(auth === undefined ? {} : { auth }) }] };
  }
  const withPassword = (file: string) => ({ username: 'bot', passwordFile: join(instance.dir, file) });
  afterEach(() => configure());

  const rows = [
    {
      reason: 'that nobody serves',
      repository: () => 'http://127.0.0.1:1/fleet.git',
      says: 'error git-unreachable: URL, the default branch: connection refused',
    },
    {
      reason: 'that is not there',
      repository: () => `${world.git.url}/nothing.git`,
      says: 'error git-not-a-repository: URL, the default branch: the server knows no Git repository there (404)',
    },
    {
      reason: 'that asks for a password',
      repository: () => `${git.url}/fleet.git`,
      says: 'error git-auth-required: URL, the default branch: the server asks for credentials',
    },
    {
      reason: 'that refuses the password',
      repository: () => `${git.url}/fleet.git`,
      auth: () => withPassword('password'),
      says: 'error git-auth-required: URL, the default branch: the server refuses the given credentials',
    },
  ];
  for (const { reason, repository, auth, says } of rows) {
    test(`${reason} is named with its URL`, async () => {
      const [livedBefore, servedBefore] = [await living(), await served()];
      configure(sourceOf(repository(), auth?.()));
      const finished = await sync();
      expect(finished.stdout.split('\n')).toContain(says.replace('URL', repository()));
      expect(finished.code).toBe(1);
      expect(await living()).toEqual(livedBefore);
      expect(await served()).toEqual(servedBefore);
    });
  }

  test('that takes the password is read', async () => {
    world.fleet.commit(goodFiles());
    git.createRepository('fleet.git').commit(goodFiles());
    writeFileSync(join(instance.dir, 'right'), `${CREDENTIALS.password}\n`);
    configure(sourceOf(`${git.url}/fleet.git`, withPassword('right')));
    await approveOtherSources();
    const finished = await sync();
    expect(finished.code).toBe(0);
    expect(`${finished.stdout}${finished.stderr}`).not.toContain(CREDENTIALS.password);
    configure();
    await approveOtherSources();
    expect((await sync()).code).toBe(0);
  });
});

/** A repository in place of the only one that the instance has read: it might be another instance of the same name. */
async function approveOtherSources(): Promise<void> {
  const { code, stdout } = await sync();
  expect(code).toBe(5);
  const [, hash = ''] =
    /^all changes wait for approval \(([0-9a-f]{16})\): this instance has read /m.exec(stdout) ?? [];
  expect((await instance.run('approve', hash)).code).toBe(0);
}

describe('the world', () => {
  afterEach(() => configure());

  test('without its API server is one line with the URL', async () => {
    writeFileSync(join(instance.dir, 'nowhere'), kubeconfig('https://127.0.0.1:1'));
    configure({ cluster: { kubeconfig: join(instance.dir, 'nowhere') } });
    const { code, stdout, stderr } = await sync();
    const line = 'error cluster-unreachable: https://127.0.0.1:1/api: connection refused\n';
    expect([code, stdout, stderr]).toEqual([1, '', line]);
  });

  test('without its database is a synced cluster and 503 for clients, until the database is back', async () => {
    const [livedBefore, servedBefore] = [await living(), await served()];
    const { port } = postgres;
    await postgres.stop();
    world.fleet.commit({ ...goodFiles(), 'cluster/search.yaml': SERVER.replaceAll('clock', 'search') });
    const { code, stdout } = await sync();
    expect(code).toBe(1);
    expect(stdout.split('\n')).toContain(
      `error database-unreachable: db_app@127.0.0.1:${port}/registry: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
    const lives = await living();
    expect(livedBefore.filter((id) => !lives.includes(id))).toEqual([]);
    expect(lives).toContain('tools/Deployment/search');

    const gone = { error: 'the catalogue is temporarily unavailable' };
    expect(await ask('/all/v0.1/servers')).toEqual({ status: 503, challenge: null, body: gone });
    expect((await ask('/readiness')).status).toBe(503);
    expect((await ask('/health')).status).toBe(200);

    postgres = await startServer({ ...data.options, port });
    await eventually(
      () => ask('/readiness'),
      ({ status }) => status === 200,
    );
    expect(await served()).toEqual(servedBefore);
    expect((await sync()).code).toBe(0);
  });
});

function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'one',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: SECRET } }],
    contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
  });
}

describe('a token', () => {
  let issuer: Issuer;
  let other: Issuer;
  let guarded: Running;
  let url: string;

  beforeAll(async () => {
    [issuer, other] = await Promise.all([startIssuer(), startIssuer()]);
    const provider = { name: 'corporate', issuerUrl: issuer.url, audience: AUDIENCE, allowPrivateIP: true };
    const oauth = { resourceUrl: AUDIENCE, providers: [provider] };
    writeFileSync(join(instance.dir, 'guarded.yaml'), JSON.stringify(serviceConfig({ mode: 'oauth', oauth })));
    [guarded, url] = await serve('guarded.yaml');
  });

  afterAll(async () => {
    guarded.kill('SIGTERM');
    await Promise.all([guarded.finished, issuer.close(), other.close()]);
  });

  const AUDIENCE = 'https://registry.example.com';
  const now = () => Math.floor(Date.now() / 1000);
  const claims = () => ({ iss: issuer.url, aud: AUDIENCE, sub: 'somebody', iat: now(), exp: now() + 600 });

  const rows = [
    {
      reason: 'that has expired',
      token: () => issuer.sign({ ...claims(), iat: now() - 7200, exp: now() - 3600 }),
    },
    { reason: 'that somebody else has signed', token: () => other.sign(claims()) },
    { reason: 'that nobody has signed (alg: none)', token: async () => new UnsecuredJWT(claims()).encode() },
    {
      reason: 'that was signed with the public key as a password',
      token: () =>
        new SignJWT(claims())
          .setProtectedHeader({ alg: 'HS256', kid: String(issuer.publicKey('RS256').kid) })
          .sign(new TextEncoder().encode(JSON.stringify(issuer.publicKey('RS256')))),
    },
  ];
  const metadata = `resource_metadata="${AUDIENCE}/.well-known/oauth-protected-resource"`;
  const invalid = 'error="invalid_token", error_description="token validation failed"';
  for (const { reason, token } of rows) {
    test(`${reason} opens nothing`, async () => {
      expect(await ask('/all/v0.1/servers', await token(), url)).toEqual({
        status: 401,
        challenge: `Bearer realm="mcp-registry", ${invalid}, ${metadata}`,
        body: { error: 'token validation failed' },
      });
    });
  }

  test('that is missing is asked for', async () => {
    expect(await ask('/all/v0.1/servers', undefined, url)).toEqual({
      status: 401,
      challenge: `Bearer realm="mcp-registry", ${metadata}`,
      body: { error: 'missing or malformed authorization header' },
    });
  });

  test('that is good opens the catalogue', async () => {
    expect((await ask('/all/v0.1/servers', await issuer.sign(claims()), url)).status).toBe(200);
  });
});

describe('a call', () => {
  const source = 'sources:\n  - {name: fleet, repository: "https://git.example.com/fleet.git"}\n';
  const files = [
    {
      reason: 'with an unknown key in skep.yaml',
      file: `${source}shedule: "* * * * *"\n`,
      says: 'bad.yaml:3:1: error schema-unknown-field: there is no setting "shedule" here. Did you mean "schedule"?\n',
    },
    {
      reason: 'with an unknown key deep in skep.yaml',
      file: 'sources:\n  - name: fleet\n    repository: https://git.example.com/fleet.git\n    pathh: clusters/prod\n',
      says: 'bad.yaml:4:5: error schema-unknown-field: there is no setting "pathh" here. Did you mean "path"?\n',
    },
    {
      reason: 'with a wrong type in skep.yaml',
      file: `${source}apply:\n  maxDeletes: many\n`,
      says: 'bad.yaml:4:15: error schema-type: apply.maxDeletes must be an integer, not a string.\n',
    },
    {
      reason: 'without sources in skep.yaml',
      file: 'name: prod\n',
      says: 'bad.yaml:1:1: error schema-required: sources is required.\n',
    },
    {
      reason: 'with two references in a source of skep.yaml',
      file: 'sources:\n  - name: fleet\n    repository: https://git.example.com/fleet.git\n    branch: main\n    tag: v1\n',
      says: 'bad.yaml:2:5: error setting-rule: sources[0]: at most one of branch, tag, semver and commit\n',
    },
    {
      reason: 'with broken YAML in skep.yaml',
      file: 'name: [\n',
      says: 'bad.yaml:2:1: error yaml-syntax: A [ above is not closed before this place: write the missing ].\n',
    },
  ];
  for (const { reason, file, says } of files) {
    test(`${reason} is refused with its place`, async () => {
      writeFileSync(join(instance.dir, 'bad.yaml'), file);
      const { code, stdout, stderr } = await run('sync', '-c', 'bad.yaml');
      expect([code, stdout, stderr]).toEqual([64, '', says]);
    });
  }

  const calls = [
    { reason: 'an unknown option', args: ['sync', '--frce'], says: "error usage: unknown option '--frce'" },
    {
      reason: 'an unknown command',
      args: ['snyc'],
      says: 'error usage: skep has no command snyc. Did you mean "sync"? (--help lists the commands)',
    },
    {
      reason: 'a value that an option does not take',
      args: ['plan', '-o', 'xml'],
      says: "error usage: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are text, json, sarif, github, markdown.",
    },
    {
      reason: 'a configuration file that is not there',
      args: ['sync', '-c', 'missing.yaml'],
      says: 'error usage: missing.yaml: no such file',
    },
    {
      reason: 'a folder that is not there',
      args: ['validate', 'missing'],
      says: 'error usage: missing: no such file or folder',
    },
    {
      reason: 'the configuration of a service that is not there',
      args: ['serve', '-c', 'missing.yaml'],
      says: 'error usage: missing.yaml: no such file',
    },
  ];
  for (const { reason, args, says } of calls) {
    test(`with ${reason} is refused`, async () => {
      const { code, stdout, stderr } = await run(...args);
      expect([code, stdout, stderr.split('\n')[0]]).toEqual([64, '', says]);
    });
  }
});
