// The configuration files that the page offers, from the documents that the registry serves.

import { describe, expect, test } from 'vitest';
import { CLIENTS } from '#registry/page/browser/clients.ts';
import { readEntry } from '#registry/page/browser/entry.ts';
import { waysOf } from '#registry/page/browser/launch.ts';
import { shellLine } from '#registry/page/browser/shell.ts';
import type { JsonObject } from '#std/json.ts';
import { CLOCK } from './fixtures.ts';

/** What each client is given for the first way to run the server, parsed. */
function configured(document: JsonObject, client: string) {
  const entry = readEntry({ server: { name: 'io.acme/clock', version: '1.0.0', ...document } });
  const launch = waysOf(entry)[0]?.launch;
  const chosen = CLIENTS.find(({ name }) => name === client);
  const made = launch === undefined ? undefined : chosen?.configure(entry.name, launch);
  if (made === undefined) return undefined;
  return { file: JSON.parse(made.text), variables: made.variables.map(({ name }) => name) };
}

const { packages = [], remotes = [] } = CLOCK;

describe('a remote with a variable in its address and a secret header', () => {
  test('VS Code asks for both', () => {
    expect(configured({ remotes }, 'VS Code')?.file).toEqual({
      inputs: [
        { type: 'promptString', id: 'clock-tenant', description: 'Your tenant' },
        { type: 'promptString', id: 'clock-token', description: 'token', password: true },
      ],
      servers: {
        clock: {
          type: 'http',
          url: 'https://clock.acme.example/${input:clock-tenant}/mcp',
          headers: { Authorization: 'Bearer ${input:clock-token}' },
        },
      },
    });
  });

  test.each([
    ['Claude Code', { type: 'http' }, '${'],
    ['Cursor', {}, '${env:'],
  ])('%s takes both from the environment', (client, type, open) => {
    expect(configured({ remotes }, client)).toEqual({
      file: {
        mcpServers: {
          clock: {
            ...type,
            url: `https://clock.acme.example/${open}CLOCK_TENANT}/mcp`,
            headers: { Authorization: `Bearer ${open}CLOCK_TOKEN}` },
          },
        },
      },
      variables: ['CLOCK_TENANT', 'CLOCK_TOKEN'],
    });
  });
});

test('a container gets its variables by name, defaults filled in, optional ones left out', () => {
  expect(configured({ packages }, 'Claude Code')).toEqual({
    file: {
      mcpServers: {
        clock: {
          type: 'stdio',
          command: 'docker',
          args: ['run', '-i', '--rm', '-e', 'CLOCK_ZONE', '-e', 'CLOCK_API_KEY', 'images.acme.example/clock:1.10.0'],
          env: { CLOCK_ZONE: 'UTC', CLOCK_API_KEY: '${CLOCK_API_KEY}' },
        },
      },
    },
    variables: ['CLOCK_API_KEY'],
  });
});

const STDIO = { transport: { type: 'stdio' } };

test.each([
  [{ registryType: 'npm', identifier: '@a/b', version: '1.0.0' }, ['npx', '-y', '@a/b@1.0.0']],
  [{ registryType: 'pypi', identifier: 'b', version: '1.0.0' }, ['uvx', 'b@1.0.0']],
  [{ registryType: 'nuget', identifier: 'B', version: '1.0.0' }, ['dnx', 'B@1.0.0', '--yes']],
  [{ registryType: 'oci', identifier: 'host:5000/b', version: '2' }, ['docker', 'run', '-i', '--rm', 'host:5000/b:2']],
  [{ registryType: 'oci', identifier: 'b@sha256:00', version: '2' }, ['docker', 'run', '-i', '--rm', 'b@sha256:00']],
  [
    {
      registryType: 'npm',
      identifier: 'b',
      packageArguments: [
        { type: 'positional', value: 'serve' },
        { type: 'named', name: '--port', default: '80' },
        { type: 'named', name: '--quiet' },
        { type: 'positional', valueHint: 'folder', isRequired: true },
      ],
    },
    ['npx', '-y', 'b', 'serve', '--port', '80', '${CLOCK_FOLDER}'],
  ],
])('%o is run as %o', (pkg, [command, ...args]) => {
  const server = configured({ packages: [{ ...pkg, ...STDIO }] }, 'Claude Code')?.file.mcpServers.clock;
  expect(server).toEqual({ type: 'stdio', command, args });
});

test.each([
  [
    { packages: [{ registryType: 'mcpb', identifier: 'https://a.example/b.mcpb', ...STDIO }] },
    'a bundle is opened, not configured',
  ],
  [{ packages: [{ registryType: 'oci', identifier: '--privileged', ...STDIO }] }, 'an option is no image'],
  [{ packages: [{ registryType: 'oci', identifier: '-v /:/host b', ...STDIO }] }, 'an image has no spaces'],
  [{ packages: [{ registryType: 'npm', identifier: 'b', version: '1 && x', ...STDIO }] }, 'nor has a version'],
  [{ remotes: [{ type: 'sse', url: 'file:///etc/passwd' }] }, 'only the web is remote'],
  [{ remotes: [{ type: 'sse', url: 'https://a.example/${env:SECRET}' }] }, 'clients would send the secret'],
  [{ remotes: [{ type: 'sse' }] }, 'no address'],
  [{ packages: 'none', remotes: [null, 7] }, 'nothing of the expected form'],
])('%o is not offered: %s', (document: JsonObject, reason) => {
  expect(configured(document, 'VS Code'), reason).toBeUndefined();
});

test.each(['${env:SECRET}', '${input:x}', '$' + '{SECRET}'])('a header that says %s is asked for instead', (value) => {
  const remote = { type: 'sse', url: 'https://a.example', headers: [{ name: 'X-Key', value }] };
  const { file, variables } = configured({ remotes: [remote] }, 'Cursor') ?? {};
  expect(file.mcpServers.clock.headers).toEqual({ 'X-Key': '${env:CLOCK_X_KEY}' });
  expect(variables).toEqual(['CLOCK_X_KEY']);
});

test.each([
  ['a terminal would act on', 'a\u001b[201~\nreboot\n'],
  ['shows the text in another order', 'a\u202egnp.exe'],
])('a value that %s is asked for instead', (_reason, value) => {
  const pkg = { registryType: 'npm', identifier: 'b', ...STDIO, environmentVariables: [{ name: 'KEY', value }] };
  expect(configured({ packages: [pkg] }, 'Cursor')?.file.mcpServers.clock.env).toEqual({ KEY: '${env:KEY}' });
  const args = [{ type: 'positional', valueHint: 'what', value }];
  const given = { registryType: 'npm', identifier: 'b', ...STDIO, packageArguments: args };
  expect(configured({ packages: [given] }, 'Cursor')?.file.mcpServers.clock.args).toEqual([
    '-y',
    'b',
    '${env:CLOCK_WHAT}',
  ]);
});

test.each(['DOCKER_HOST', 'PATH', 'LD_PRELOAD', 'https_proxy'])(
  'a container gets its %s in its arguments: no program of this machine is given it',
  (name) => {
    const environmentVariables = [
      { name, value: 'x' },
      { name: 'GITHUB_TOKEN', isRequired: true, isSecret: true },
    ];
    const pkg = { registryType: 'oci', identifier: 'a/b:1', ...STDIO, environmentVariables };
    expect(configured({ packages: [pkg] }, 'Claude Code')?.file.mcpServers.clock).toEqual({
      type: 'stdio',
      command: 'docker',
      args: ['run', '-i', '--rm', '-e', 'GITHUB_TOKEN', '-e', `${name}=x`, 'a/b:1'],
      env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' },
    });
    const asked = { ...pkg, environmentVariables: [{ name, isRequired: true }] };
    const { file, variables } = configured({ packages: [asked] }, 'Claude Code') ?? {};
    expect(file.mcpServers.clock.args).toContain(`${name}=\${CONTAINER_${name.toUpperCase()}}`);
    expect(variables).toEqual([`CONTAINER_${name.toUpperCase()}`]);
  },
);

const ARGS: JsonObject = {
  packages: [{ registryType: 'oci', identifier: 'a/b:1', ...STDIO }],
  _meta: {
    'io.modelcontextprotocol.registry/publisher-provided': {
      'io.github.stacklok': { 'a/b:1': { args: ['--transport', 'stdio', '${env:SECRET}'] } },
    },
  },
};

const FILES = CLIENTS.filter(({ name }) => name !== 'thv');

test.each(FILES.map(({ name }) => name))(
  '%s starts a container with the arguments that its publisher names',
  (name) => {
    const { file } = configured(ARGS, name) ?? {};
    const [servers] = Object.values<Record<string, { args: string[] }>>(file).filter((each) => 'clock' in each);
    expect(servers?.clock?.args).toEqual(['run', '-i', '--rm', 'a/b:1', '--transport', 'stdio']);
  },
);

test('install links hold what would be pasted', () => {
  const launch = waysOf(readEntry({ server: { name: 'io.acme/clock', version: '1.0.0', remotes } }))[0]?.launch;
  if (launch === undefined) throw new Error('there is a way');
  const link = (client: string) =>
    CLIENTS.find(({ name }) => name === client)?.install?.('io.acme/clock', launch) ?? '';
  const code = JSON.parse(decodeURIComponent(link('VS Code').replace('vscode:mcp/install?', '')));
  const { inputs, servers } = configured({ remotes }, 'VS Code')?.file ?? {};
  expect(code).toEqual({ name: 'clock', ...servers.clock, inputs });
  const cursor = new URL(link('Cursor'));
  expect(cursor.protocol).toBe('cursor:');
  expect(cursor.searchParams.get('name')).toBe('clock');
  const packed = Buffer.from(cursor.searchParams.get('config') ?? '', 'base64').toString();
  expect(JSON.parse(packed)).toEqual(configured({ remotes }, 'Cursor')?.file.mcpServers.clock);
});

test('Claude Desktop, which starts programs only, reaches an address through one', () => {
  expect(configured({ remotes }, 'Claude Desktop')?.file.mcpServers.clock).toEqual({
    command: 'npx',
    args: ['-y', 'mcp-remote', 'https://clock.acme.example/<tenant>/mcp', '--header', 'Authorization:Bearer <token>'],
  });
  expect(configured({ remotes }, 'Windsurf')?.file.mcpServers.clock.serverUrl).toBe(
    'https://clock.acme.example/${env:CLOCK_TENANT}/mcp',
  );
  expect(Object.keys(configured({ remotes }, 'Zed')?.file)).toEqual(['context_servers']);
});

/** The line for thv, and what it needs, of the first way. */
function thvOf(document: JsonObject) {
  const [way] = waysOf(readEntry({ server: { name: 'io.acme/Clock', version: '1.0.0', ...document } }));
  const made = way?.launch && CLIENTS.find(({ name }) => name === 'thv')?.configure('io.acme/Clock', way.launch);
  return made && { line: made.text, variables: made.variables.map(({ name }) => name) };
}

const LISTENING = { transport: { type: 'sse', url: 'http://localhost:8090/sse' } };
const KEY = { name: 'API_KEY', isRequired: true, isSecret: true };

test.each([
  {
    document: ARGS,
    line: 'thv run --name clock --transport stdio a/b:1 -- --transport stdio',
    reason: 'an image, with the arguments that its publisher names',
  },
  {
    document: { packages: [{ registryType: 'npm', identifier: '@a/b', version: '1.0.0', ...STDIO }] },
    line: 'thv run --name clock --transport stdio npx://@a/b@1.0.0',
    reason: 'a package that it builds an image for',
  },
  {
    document: {
      packages: [
        {
          registryType: 'oci',
          identifier: 'a/b:1',
          ...LISTENING,
          environmentVariables: [KEY, { name: 'PATH', value: "it's $(reboot)" }],
        },
      ],
    },
    line: `thv run --name clock --transport sse --target-port 8090 -e API_KEY="$API_KEY" -e PATH='it'\\''s $(reboot)' a/b:1`,
    variables: ['API_KEY'],
    reason: 'an image that listens, quoted where the shell would act',
  },
  {
    document: { remotes },
    line: `thv run --name clock --transport streamable-http --remote-forward-headers Authorization='Bearer '"$TOKEN" https://clock.acme.example/"$TENANT"/mcp`,
    variables: ['TOKEN', 'TENANT'],
    reason: 'a remote',
  },
])('thv is given $reason', ({ document, line, variables = [] }) => {
  expect(thvOf(document as JsonObject)).toEqual({ line, variables });
});

test('thv is offered nothing for a package of NuGet', () => {
  expect(thvOf({ packages: [{ registryType: 'nuget', identifier: 'B', ...STDIO }] })).toBeUndefined();
});

test('a variable cannot complete what a value began', () => {
  const header = { name: 'X-Key', value: '${part}', variables: { part: { value: '{env:SECRET}' } } };
  const remote = { type: 'sse', url: 'https://a.example', headers: [header] };
  expect(JSON.stringify(configured({ remotes: [remote] }, 'Cursor')?.file)).not.toContain('SECRET');
});

test('a container that listens is started first, with what is blank from the shell, everything else quoted', () => {
  const pkg = {
    registryType: 'oci',
    identifier: 'images.acme.example/clock:1',
    transport: { type: 'streamable-http', url: 'http://localhost:8090/mcp' },
    environmentVariables: [
      { name: 'GREETING', value: "it's $(reboot) `now`" },
      { name: 'KEY', isRequired: true, isSecret: true },
      { name: 'A; reboot', value: 'x' },
    ],
  };
  const [way] = waysOf(readEntry({ server: { name: 'a/b', packages: [pkg] } }));
  if (way?.launch?.kind !== 'address' || way.launch.start === undefined) throw new Error('it is an address');
  expect(shellLine(way.launch.start)).toBe(
    "GREETING='it'\\''s $(reboot) `now`' docker run -i --rm -p 127.0.0.1:8090:8090 -e GREETING -e KEY images.acme.example/clock:1",
  );
  expect(configured({ packages: [pkg] }, 'Cursor')?.file).toEqual({
    mcpServers: { clock: { url: 'http://localhost:8090/mcp' } },
  });
});

const [FIRST] = packages as readonly JsonObject[];

test('the name of an argument hands out no variable of the machine', () => {
  const named = (name: string) => ({ type: 'named', name, value: '1' });
  const packageArguments = [named('--x=${env:AWS_SECRET_ACCESS_KEY}'), named('--fine')];
  for (const client of ['Claude Code', 'Cursor', 'VS Code']) {
    const text = JSON.stringify(configured({ packages: [{ ...FIRST, packageArguments }] }, client));
    expect(text, client).not.toContain('AWS_SECRET_ACCESS_KEY');
    expect(text, client).toContain('--fine');
  }
});

test('thv is not offered what docker alone would be told', () => {
  const runtimeArguments = [{ type: 'named', name: '--mount', value: 'type=bind,src=/srv,dst=/data' }];
  const entry = (more: JsonObject) => readEntry({ server: { name: 'io.acme/clock', version: '1', packages: [more] } });
  const thv = CLIENTS.find(({ name }) => name === 'thv');
  const offered = (more: JsonObject) =>
    waysOf(entry(more)).map(({ launch }) => {
      return launch !== undefined && thv?.configure('io.acme/clock', launch) !== undefined;
    });
  expect(offered({ ...FIRST })).toEqual([true]);
  expect(offered({ ...FIRST, runtimeArguments })).toEqual([false]);
});
