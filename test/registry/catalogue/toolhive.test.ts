// The platform's registry format: what a server becomes, what is rejected and where, and that nothing is lost.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import { toToolhive } from '#registry/catalogue/formats/toolhive-mapping.ts';
import type { JsonObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';

const PROVIDED = 'io.modelcontextprotocol.registry/publisher-provided';
const SAMPLES = {
  'the sample fleet': fileURLToPath(new URL('../../../manifests/fleet/registry.json', import.meta.url)),
  'the shared registry': fileURLToPath(new URL('../../../../shared/data/registry-toolhive.json', import.meta.url)),
};

/** Every entry as `name version`, every problem as its line; the whole problem where the text is no registry. */
function check(text: string): { entries: string[]; problems: string[]; names: (string | undefined)[] } | string {
  const parsed = parseRegistry('toolhive', text, 'registry.json');
  if (!parsed.ok) return formatProblem(parsed.problem);
  return {
    entries: parsed.entries.map(({ name, version }) => `${name} ${version}`),
    problems: parsed.rejected.map(({ problem }) => formatProblem(problem)),
    names: parsed.rejected.map(({ name }) => name),
  };
}

function parsed(root: object) {
  const result = parseRegistry('toolhive', JSON.stringify(root), 'registry.json');
  if (!result.ok) throw new Error(formatProblem(result.problem));
  return result;
}

function entryOf(section: 'servers' | 'remote_servers', key: string, server: object) {
  const { entries, rejected } = parsed({ [section]: { [key]: server } });
  expect(rejected).toEqual([]);
  return entries[0]!;
}

const CLOCK = { description: 'Tells the time', image: 'images.example.com/clock:1.2.0' };

describe('a container becomes a server.json', () => {
  test('with everything that server.json has a field for in that field, and the rest in the publisher block', () => {
    const { document, ...found } = entryOf('servers', 'clock', {
      title: 'Clock',
      description: 'Tells the time',
      overview: 'A longer text',
      tier: 'Official',
      status: 'Deprecated',
      transport: 'streamable-http',
      target_port: 8080,
      proxy_port: 9090,
      tools: ['get_time'],
      tags: ['time', 'clock'],
      metadata: { stars: 5, pulls: 77, last_updated: '2026-01-01T00:00:00Z' },
      repository_url: 'https://git.example.com/clock',
      image: 'images.example.com/clock:1.2.0',
      permissions: { network: { outbound: { insecure_allow_all: true } } },
      env_vars: [
        { name: 'TZ', description: 'Zone', required: false, default: 'UTC' },
        { name: 'CLOCK_KEY', description: 'Key', required: true, secret: true },
      ],
      args: ['--verbose'],
      something_new: { kept: true },
    });
    expect(document).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: 'io.github.stacklok/clock',
      title: 'Clock',
      description: 'Tells the time',
      repository: { url: 'https://git.example.com/clock', source: 'github' },
      version: '1.0.0',
      packages: [
        {
          registryType: 'oci',
          identifier: 'images.example.com/clock:1.2.0',
          transport: { type: 'streamable-http', url: 'http://localhost:8080' },
          environmentVariables: [
            { name: 'TZ', description: 'Zone', default: 'UTC' },
            { name: 'CLOCK_KEY', description: 'Key', isRequired: true, isSecret: true },
          ],
        },
      ],
      _meta: {
        [PROVIDED]: {
          'io.github.stacklok': {
            'images.example.com/clock:1.2.0': {
              status: 'Deprecated',
              overview: 'A longer text',
              tier: 'Official',
              proxy_port: 9090,
              tools: ['get_time'],
              tags: ['time', 'clock'],
              metadata: { stars: 5, pulls: 77, last_updated: '2026-01-01T00:00:00Z' },
              permissions: { network: { outbound: { insecure_allow_all: true } } },
              args: ['--verbose'],
              something_new: { kept: true },
            },
          },
        },
      },
    });
    expect(found).toEqual({
      name: 'io.github.stacklok/clock',
      version: '1.0.0',
      title: 'Clock',
      description: 'Tells the time',
      tags: ['time', 'clock'],
      status: 'deprecated',
      tier: 'Official',
      transports: ['streamable-http'],
      images: ['images.example.com/clock:1.2.0'],
    });
  });

  test.each([
    { server: {}, transport: { type: 'stdio' }, reason: 'stdio is the default' },
    { server: { transport: 'sse' }, transport: { type: 'sse', url: 'http://localhost' }, reason: 'no port, no number' },
    {
      server: { transport: 'sse', target_port: 3000 },
      transport: { type: 'sse', url: 'http://localhost:3000' },
      reason: 'the port is in the URL',
    },
  ])('its transport: $reason', ({ server, transport }) => {
    const { document } = entryOf('servers', 'clock', { ...CLOCK, ...server });
    expect(document.packages).toEqual([{ registryType: 'oci', identifier: CLOCK.image, transport }]);
  });

  test.each([
    { key: 'clock', name: undefined, expected: 'io.github.stacklok/clock', reason: 'the key gets the namespace' },
    { key: 'clock', name: 'time', expected: 'io.github.stacklok/time', reason: 'a bare name does so too' },
    { key: 'clock', name: 'io.acme/time', expected: 'io.acme/time', reason: 'a full name stays' },
    { key: 'io.acme/clock', name: undefined, expected: 'io.acme/clock', reason: 'a full key stays' },
  ])('its name is $expected: $reason', ({ key, name, expected }) => {
    expect(entryOf('servers', key, { ...CLOCK, ...(name === undefined ? {} : { name }) }).name).toBe(expected);
  });
});

test('a remote server becomes a remote with its headers', () => {
  const { document, transports, images } = entryOf('remote_servers', 'clock-remote', {
    description: 'Tells the time',
    tier: 'Community',
    status: 'Active',
    transport: 'sse',
    tools: [],
    url: 'https://mcp.example.com/sse',
    headers: [{ name: 'X-Key', description: 'Key', required: true, secret: true, choices: ['a', 'b'] }],
    oauth_config: { issuer: 'https://login.example.com' },
    env_vars: [{ name: 'TZ', required: false }],
  });
  expect(document.remotes).toEqual([
    {
      type: 'sse',
      url: 'https://mcp.example.com/sse',
      headers: [{ name: 'X-Key', description: 'Key', isRequired: true, isSecret: true, choices: ['a', 'b'] }],
    },
  ]);
  expect(document.packages).toBeUndefined();
  expect(document._meta).toEqual({
    [PROVIDED]: {
      'io.github.stacklok': {
        'https://mcp.example.com/sse': {
          status: 'Active',
          tier: 'Community',
          tools: [],
          oauth_config: { issuer: 'https://login.example.com' },
          env_vars: [{ name: 'TZ', required: false }],
        },
      },
    },
  });
  expect({ transports, images }).toEqual({ transports: ['sse'], images: [] });
});

describe('groups', () => {
  const group = { name: 'team', description: 'What the team uses' };

  test('servers of a group are served and know their group', () => {
    const { entries, groups } = parsed({ servers: {}, groups: [{ ...group, servers: { clock: CLOCK } }] });
    expect(groups).toEqual([group]);
    expect(entries.map(({ name }) => name)).toEqual(['io.github.stacklok/clock']);
    expect(toToolhive(entries[0]!)).toMatchObject({ key: 'clock', groups: [group] });
  });

  test('a server that stands in groups just as it stands at the top is one server', () => {
    const other = { name: 'others', description: '' };
    const groups = [
      { ...group, servers: { clock: CLOCK } },
      { ...other, servers: { clock: CLOCK } },
    ];
    const { entries, rejected } = parsed({ servers: { clock: CLOCK }, groups });
    expect(rejected).toEqual([]);
    expect(entries.map((entry) => toToolhive(entry))).toMatchObject([{ key: 'clock', groups: [group, other] }]);
  });

  test('one that differs from the top is a duplicate', () => {
    const { entries, rejected } = parsed({
      servers: { clock: CLOCK },
      groups: [{ ...group, servers: { clock: { ...CLOCK, image: 'other' } } }],
    });
    expect(entries.map(({ images }) => images)).toEqual([[CLOCK.image]]);
    expect(rejected.map(({ problem }) => `${problem.code} ${problem.pointer}`)).toEqual([
      'registry-entry-duplicate /groups/0/servers/clock',
    ]);
  });
});

describe('the way back', () => {
  test.each(Object.entries(SAMPLES))('%s comes back as it was', (_name, file) => {
    if (!existsSync(file)) {
      process.stderr.write(`skipped: ${file} is not here\n`);
      return;
    }
    const root: Record<string, Record<string, JsonObject>> = JSON.parse(readFileSync(file, 'utf8'));
    const { entries, rejected } = parsed(root);
    expect(rejected).toEqual([]);
    expect(entries.length).toBeGreaterThanOrEqual(100);
    const back: Record<string, Record<string, JsonObject>> = { servers: {}, remote_servers: {} };
    for (const entry of entries) {
      const item = toToolhive(entry);
      if ('reason' in item) throw new Error(item.reason);
      back[item.section]![item.key] = item.server;
    }
    expect(back).toEqual({ servers: root.servers, remote_servers: root.remote_servers });
  });

  test.each([
    { server: { ...CLOCK, name: 'io.acme/time', status: 'Active' }, reason: 'a name that the key does not give' },
    {
      server: { ...CLOCK, transport: 'stdio', target_port: 8080, status: 'Active' },
      reason: 'a port that stdio has no place for',
    },
    { server: { ...CLOCK, transport: 'sse', status: 'Deprecated', args: ['--x'] }, reason: 'arguments' },
  ])('keeps $reason', ({ server }) => {
    expect(toToolhive(entryOf('servers', 'clock', server))).toMatchObject({ key: 'clock', server });
  });

  test.each([
    { document: {}, reason: 'it has neither a container image nor a remote' },
    {
      document: { packages: [{ registryType: 'oci' }, { registryType: 'oci' }] },
      reason: 'it has more than one container image',
    },
  ])('there is none for an entry when $reason', ({ document, reason }) => {
    expect(toToolhive({ document })).toEqual({ reason });
  });

  test('arguments of an official document become plain ones', () => {
    const packageArguments = [
      { type: 'named', name: '--port', value: '8080' },
      { type: 'positional', value: 'run' },
      { type: 'named', name: '--verbose' },
    ];
    const document = {
      name: 'io.acme/clock',
      description: 'Tells the time',
      packages: [{ registryType: 'oci', identifier: 'clock:1', transport: { type: 'stdio' }, packageArguments }],
    };
    expect(toToolhive({ document })).toMatchObject({
      key: 'clock',
      server: { name: 'io.acme/clock', image: 'clock:1', args: ['--port', '8080', 'run', '--verbose'] },
    });
  });
});

describe('an invalid entry is rejected with its place and the others are kept', () => {
  const file = (broken: string) => `{
  "servers": {
    "good": {"description": "Works", "image": "good:1"},
    "broken": ${broken}
  }
}`;

  test.each([
    {
      broken: '{"description": "Tells the time"}',
      line: '4:5',
      pointer: '/servers/broken',
      says: 'must have a member "image"',
    },
    {
      broken: '{"image": "x", "description": ""}',
      line: '4:30',
      pointer: '/servers/broken/description',
      says: 'must not be empty',
    },
    {
      broken: '{"image": 7, "description": "x"}',
      line: '4:16',
      pointer: '/servers/broken/image',
      says: 'must be string',
    },
    {
      broken: '{"image": "x", "description": "x",\n "transport": "carrier"}',
      line: '5:2',
      pointer: '/servers/broken/transport',
      says: 'must be one of stdio, sse, streamable-http',
    },
    {
      broken: '{"image": "x", "description": "x", "env_vars": [{"name": "A"}, {"default": 1}]}',
      line: '4:78',
      pointer: '/servers/broken/env_vars/1',
      says: 'must have a member "name"',
    },
    { broken: '"text"', line: '4:5', pointer: '/servers/broken', says: 'must be object' },
    { broken: 'null', line: '4:5', pointer: '/servers/broken', says: 'must be object' },
    {
      broken: '{"image": "x", "description": "a\\u0000b"}',
      line: '4:30',
      pointer: '/servers/broken/description',
      says: 'NUL',
    },
    {
      broken: `{"image": "x", "description": "x", "metadata": ${'['.repeat(90)}${']'.repeat(90)}}`,
      line: '4:126',
      pointer: expect.stringMatching('^/servers/broken/metadata/0/0/0'),
      says: 'nested deeper',
    },
    {
      broken: '{"image": "x", "description": "x", "name": "a/b/c"}',
      line: '4:50',
      pointer: '/servers/broken/name',
      says: 'reverse-DNS',
    },
  ])('$broken', ({ broken, line, pointer, says }) => {
    const result = parseRegistry('toolhive', file(broken), 'registry.json');
    if (!result.ok) throw new Error(formatProblem(result.problem));
    expect(result.entries.map(({ name }) => name)).toEqual(['io.github.stacklok/good']);
    const [rejected] = result.rejected;
    expect(rejected?.problem).toMatchObject({ code: 'registry-entry-invalid', pointer });
    expect(formatProblem(rejected!.problem)).toContain(`registry.json:${line}: warning`);
    expect(rejected?.problem.message).toContain(says);
  });

  test('it still tells its name, so that what it stood for can be kept', () => {
    expect(check(file('{"name": "io.acme/time"}'))).toMatchObject({ names: ['io.acme/time'] });
    expect(check(file('{}'))).toMatchObject({ names: ['io.github.stacklok/broken'] });
  });

  test('a broken group has no name', () => {
    const text = JSON.stringify({ servers: { good: CLOCK }, groups: [{ description: 'nameless' }] });
    expect(check(text)).toMatchObject({ entries: ['io.github.stacklok/good 1.0.0'], names: [undefined] });
  });

  test('of a key that is there twice the first entry counts', () => {
    const text =
      '{"servers": {\n"a": {"description": "first", "image": "a:1"},\n"a": {"description": "second", "image": "a:2"}}}';
    expect(check(text)).toEqual({
      entries: ['io.github.stacklok/a 1.0.0'],
      problems: [
        'registry.json:3:1: warning registry-entry-duplicate: /servers/a is another entry for io.github.stacklok/a version 1.0.0, which line 2 has already',
      ],
      names: ['io.github.stacklok/a'],
    });
    const first = parseRegistry('toolhive', text, 'x');
    expect(first.ok && first.entries[0]?.description).toBe('first');
  });
});

describe('a text that is no registry file gives one clear line', () => {
  test.each([
    {
      text: '{\n  "servers": {,\n',
      line: 'registry.json:2:15: error registry-not-json: not JSON: expected a member name in double quotes',
    },
    { text: '', line: 'registry.json:1:1: error registry-not-json: not JSON: the text ends early' },
    { text: '<html>', line: 'registry.json:1:1: error registry-not-json: not JSON: expected a value' },
    {
      text: '[]',
      line: 'registry.json:1:1: error registry-wrong-shape: a registry file is a JSON object with a member "servers"',
    },
    {
      text: '{"version": "1.0.0"}',
      line: 'registry.json:1:1: error registry-wrong-shape: a registry file has a member "servers" or "remote_servers"',
    },
    { text: '{"servers": 5}', line: 'registry.json:1:2: error registry-wrong-shape: "servers" must be an object' },
    {
      text: '{"servers": {}, "groups": {}}',
      line: 'registry.json:1:17: error registry-wrong-shape: "groups" must be a list',
    },
    {
      text: '{"data": {"servers": []}}',
      line: 'registry.json:1:1: error registry-wrong-shape: this is a registry file of the format "upstream", not "toolhive"',
    },
  ])('$text', ({ text, line }) => {
    expect(check(text)).toBe(line);
  });

  test('a byte order mark is overlooked, and an empty registry is one', () => {
    expect(check('\uFEFF{"servers": {}, "remote_servers": null}')).toEqual({ entries: [], problems: [], names: [] });
  });
});
