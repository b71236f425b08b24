// `skep explain`: what it prints is what the schemas say, whatever way a kind or a field is named.

import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { flat, lastName, rootField } from '#reconciler/kinds/fields.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { type Finished, skep } from '../harness/skep.ts';

function explain(...args: readonly string[]): Promise<Finished> {
  return skep(['explain', ...args], { cwd: tmpdir() });
}

test('without a kind it lists all of them, one a line', async () => {
  const { code, stdout, stderr } = await explain();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([...KINDS.map(({ kind }) => kind), '']);
});

test('a field is shown with its default, its values and its meaning', async () => {
  const { code, stdout } = await explain('MCPServer.spec.proxyMode');
  expect([code, stdout.slice(0, stdout.indexOf('NAMES:'))]).toEqual([
    0,
    'GROUP:      toolhive.stacklok.dev\nKIND:       MCPServer\nVERSIONS:   v1alpha1, v1beta1\n',
  ]);
  expect(stdout.slice(stdout.indexOf('FIELD:'))).toBe(`FIELD:      spec.proxyMode <string>
DEFAULT:    "streamable-http"
ONE OF:     sse, streamable-http

DESCRIPTION:
    Transport for clients if transport is stdio. No effect otherwise.
`);
});

test('a list is shown with its limits, the rules of its items, and their fields', async () => {
  const { stdout } = await explain('MCPRegistry.spec.registries');
  expect(stdout).toContain('FIELD:      spec.registries <object[]>\nLIMITS:     1 to 128 entries\n');
  expect(stdout).toMatch(/\nRULES:\n {4}- \S/);
  expect(stdout).toMatch(/\nFIELDS:\n {2}name <string> -required-\n {6}Name of the registry/);
});

test('a pattern, a range and a deprecated field say so', async () => {
  expect((await explain('MCPServer.spec.env.name')).stdout).toMatch(/\nREQUIRED: {3}yes\n[\s\S]*PATTERN: {4}\^/);
  const { stdout } = await explain('MCPServer.spec.port');
  expect(stdout).toContain('DEPRECATED: use proxyPort instead\nLIMITS:     1 to 65535\n');
});

test('--recursive outlines every field at every depth', async () => {
  const { stdout } = await explain('MCPServer', '--recursive');
  const kind = KINDS.find((each) => each.kind === 'MCPServer')!;
  const listed = stdout.slice(stdout.indexOf('FIELDS:')).split('\n').slice(1, -1);
  expect(listed.map((line) => line.trim().split(' ')[0])).toEqual(flat(rootField(kind).fields).map(lastName));
});

test('a kind is shown with its settings that are annotations', async () => {
  const { stdout } = await explain('MCPRemoteProxy');
  expect(stdout.slice(stdout.indexOf('ANNOTATIONS:'))).toMatch(
    /^ANNOTATIONS:\n {2}skep\.dev\/rate-limit\n {6}Requests per second of all callers;[\s\S]*\n {6}Value: a whole number from 1\. Default: no limit\.\n/,
  );
  expect(stdout).toContain('  skep.dev/backend-ca\n');
  expect(stdout).not.toContain('skep.dev/stdio-sharing');
  expect((await explain('MCPGroup')).stdout).not.toContain('ANNOTATIONS');
});

test('in another API group it says so', async () => {
  expect((await explain('mcpgroup', '--api-group', 'mcp.example.com')).stdout).toContain(
    'GROUP:      mcp.example.com\n',
  );
});

test.each(['MCPGroup', 'MCPGROUPS', 'mcpgroup', 'mcpg'])(
  'a kind answers to all of its names, in any case: %s',
  async (name) => {
    expect((await explain(name)).stdout).toContain('KIND:       MCPGroup\n');
  },
);

test('no two kinds share a name', () => {
  const names = KINDS.flatMap(({ plural, singular, shortNames }) => [...new Set([plural, singular, ...shortNames])]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

describe('what does not exist is a usage error that names what does', () => {
  test.each([
    {
      path: 'MCPServr',
      message: 'There is no kind "MCPServr". Did you mean "MCPServer"? The kinds are EmbeddingServer, ',
    },
    { path: 'Gadget', message: 'There is no kind "Gadget". The kinds are ' },
    {
      path: 'MCPServer.spec.trasport',
      message: 'MCPServer.spec has no field "trasport". Did you mean "transport"? Its fields are image, transport, ',
    },
    {
      path: 'MCPServer.speck',
      message: 'MCPServer has no field "speck". Did you mean "spec"? Its fields are apiVersion, ',
    },
    {
      path: 'MCPServer.spec.image.tag',
      message: 'MCPServer.spec.image is string: no fields are described below it.',
    },
    { path: 'MCPServer..image', message: 'MCPServer has no field "". Its fields are ' },
  ])('$path', async ({ path, message }) => {
    const { code, stdout, stderr } = await explain(path);
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toContain(`error usage: ${message}`);
  });
});

test('a field with two spellings says so, and a reference may be a name or an object', async () => {
  const group = await explain('MCPServer.spec.groupRef');
  expect(group.stdout).toContain('FIELD:      spec.groupRef <string or object>\n');
  const [old, current] = [
    await explain('MCPRemoteProxy.spec.remoteURL'),
    await explain('MCPRemoteProxy.spec.remoteUrl'),
  ];
  expect(old.stdout).toContain('DEPRECATED: in v1beta1: use remoteUrl instead\n');
  expect(current.stdout).toContain('v1alpha1 calls it remoteURL.');
  expect(current.stdout).not.toContain('DEPRECATED');
});
