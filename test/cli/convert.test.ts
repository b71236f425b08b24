// `skep convert`: what is rewritten, what stays to the byte, and that nothing changes its meaning.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import { respell } from '#reconciler/kinds/respell.ts';
import { skep } from '../harness/skep.ts';

const GROUP = 'toolhive.stacklok.dev';

function manifest(kind: string, spec: string, version = 'v1alpha1'): string {
  return `apiVersion: ${GROUP}/${version}\nkind: ${kind}\nmetadata: {name: a, namespace: team}\nspec:${spec}`;
}

function converted(text: string): string {
  const result = respell(text, KINDS, GROUP);
  return 'text' in result ? result.text : `fault: ${result.fault}`;
}

const ROWS: readonly {
  readonly what: string;
  readonly kind: string;
  readonly before: string;
  readonly after: string;
}[] = [
  {
    what: 'a name becomes a reference, with the comment behind it',
    kind: 'MCPServer',
    before: '\n  # The image.\n  image: a/b:1   # one\n  groupRef: tools # all\n',
    after: '\n  # The image.\n  image: a/b:1   # one\n  groupRef: {name: tools} # all\n',
  },
  {
    what: 'quotes, anchors and aliases stay',
    kind: 'MCPServer',
    before: '\n  groupRef: &g "tools"\n  image: a/b:1\n  args: [*g]\n',
    after: '\n  groupRef: {name: &g "tools"}\n  image: a/b:1\n  args: [*g]\n',
  },
  {
    what: 'an alias becomes a reference',
    kind: 'MCPServer',
    before: '\n  image: a/b:1\n  args: [&g tools]\n  groupRef: *g\n',
    after: '\n  image: a/b:1\n  args: [&g tools]\n  groupRef: {name: *g}\n',
  },
  {
    what: 'a field gets its name, in a flow mapping as well',
    kind: 'MCPRemoteProxy',
    before: ' {remoteURL: "https://mcp.example.com/mcp", groupRef: tools, oidcConfig: {type: kubernetes}}\n',
    after: ' {remoteUrl: "https://mcp.example.com/mcp", groupRef: {name: tools}, oidcConfig: {type: kubernetes}}\n',
  },
  {
    what: 'a word is replaced, and a field',
    kind: 'MCPExternalAuthConfig',
    before:
      "\n  type: 'cloudSts'\n  cloudSts:\n    region: eu-central-1\n    fallbackRoleArn: arn:aws:iam::123456789012:role/r\n",
    after:
      "\n  type: 'awsSts'\n  awsSts:\n    region: eu-central-1\n    fallbackRoleArn: arn:aws:iam::123456789012:role/r\n",
  },
  {
    what: 'a group that is alone in config',
    kind: 'VirtualMCPServer',
    before: '\n  incomingAuth: {type: anonymous}\n  config:\n    groupRef: tools\n  replicas: 2\n',
    after: '\n  incomingAuth: {type: anonymous}\n  groupRef: {name: tools}\n  replicas: 2\n',
  },
  {
    what: 'a group that is alone in config with a comment',
    kind: 'VirtualMCPServer',
    before: '\n  incomingAuth: {type: anonymous}\n  config: # all\n    groupRef: tools # ours\n',
    after: '\n  incomingAuth: {type: anonymous}\n  groupRef: {name: tools}\n  config: # all\n    {} # ours\n',
  },
  {
    what: 'a group among others in config',
    kind: 'VirtualMCPServer',
    before:
      '\n  config:\n    name: a\n# far left\n    groupRef: tools\n# left\n    # right\n    metadata: {x: y}\n  incomingAuth: {type: anonymous}\n',
    after:
      '\n  groupRef: {name: tools}\n  config:\n    name: a\n# far left\n# left\n    # right\n    metadata: {x: y}\n  incomingAuth: {type: anonymous}\n',
  },
  {
    what: 'a group at the end of the text, without a newline',
    kind: 'VirtualMCPServer',
    before: '\n  incomingAuth: {type: anonymous}\n  config:\n    name: a\n    groupRef: tools',
    after: '\n  incomingAuth: {type: anonymous}\n  groupRef: {name: tools}\n  config:\n    name: a\n',
  },
  {
    what: 'a group in flow mappings',
    kind: 'VirtualMCPServer',
    before: ' {incomingAuth: {type: anonymous}, config: {name: a, groupRef: tools}}\n',
    after: ' {incomingAuth: {type: anonymous}, groupRef: {name: tools}, config: {name: a}}\n',
  },
  {
    what: 'a group first in a flow mapping',
    kind: 'VirtualMCPServer',
    before: '\n  incomingAuth: {type: anonymous}\n  config: {groupRef: tools, name: a}\n',
    after: '\n  incomingAuth: {type: anonymous}\n  groupRef: {name: tools}\n  config: {name: a}\n',
  },
];

describe('respell', () => {
  test.each(ROWS)('$what', ({ kind, before, after }) => {
    expect(converted(manifest(kind, before))).toBe(manifest(kind, after, 'v1beta1'));
    expect(converted(manifest(kind, after, 'v1beta1'))).toBe(manifest(kind, after, 'v1beta1'));
  });

  test('JSON stays JSON, and lists are read', () => {
    const object = { apiVersion: `${GROUP}/v1alpha1`, kind: 'MCPServer', spec: { image: 'a', groupRef: 'tools' } };
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [object] }, null, 2);
    expect(JSON.parse(converted(text)).items).toEqual([
      { ...object, apiVersion: `${GROUP}/v1beta1`, spec: { image: 'a', groupRef: { name: 'tools' } } },
    ]);
  });

  test('other objects, other groups and every document around stay as they are', () => {
    const others = '# head\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {groupRef: tools}\n---\n---\n';
    const foreign = 'apiVersion: example.com/v1alpha1\nkind: MCPServer\nspec: {groupRef: tools}\n---\n';
    const own = (version: string, group: string) => manifest('MCPServer', ` {image: a, groupRef: ${group}}\n`, version);
    expect(converted(others + foreign + own('v1alpha1', 'tools'))).toBe(
      others + foreign + own('v1beta1', '{name: tools}'),
    );
    expect(converted(others + foreign)).toBe(others + foreign);
  });

  test('a text that would mean something else, or is not YAML, is left alone with the reason', () => {
    const shared = manifest(
      'VirtualMCPServer',
      '\n  incomingAuth: {type: anonymous}\n  config: &c {groupRef: tools}\n',
    );
    expect(converted(`${shared}---\n${manifest('MCPGroup', ' {}\n')}`)).toContain('groupRef: {name: tools}');
    const used = '\n  incomingAuth: {type: anonymous}\n  config: &c {groupRef: tools}\n  podTemplateSpec: *c\n';
    expect(converted(manifest('VirtualMCPServer', used))).toMatch(/^fault: its meaning would change/);
    const number = '\n  image: a/b:1\n  groupRef: 5\n';
    expect(converted(manifest('MCPServer', number))).toMatch(/^fault: its meaning would change/);
    expect(converted('a: {{ .Values.x }}\nb: [')).toMatch(/^fault: /);
  });
});

/** Every fixture of the kinds that is valid, and the sample fleet: texts that people wrote. */
function writtenTexts(): readonly (readonly [file: string, text: string])[] {
  const folders = ['test/reconciler/kinds', 'manifests/fleet/cluster', 'manifests/init'];
  const root = join(import.meta.dirname, '../..');
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml') && !name.includes('expected/') && !name.includes('invalid-'))
      .map((name) => [name, readFileSync(join(root, folder, name), 'utf8')] as const),
  );
}

test('every fixture and every sample is converted, keeps its comments, and has nothing left to convert', () => {
  const texts = writtenTexts();
  expect(texts.length).toBeGreaterThan(100);
  for (const [file, text] of texts) {
    const once = converted(text);
    expect(once, file).not.toMatch(/^fault: /);
    const left = once.match(/^apiVersion: toolhive[.]stacklok[.]dev\/v1alpha1\nkind: .*$/gm) ?? [];
    expect(
      left.filter((head) => !head.endsWith(' MCPWebhookConfig')),
      file,
    ).toEqual([]);
    expect(once.match(/#.*/g), file).toEqual(text.match(/#.*/g));
    expect(converted(once), file).toBe(once);
  }
});

describe('skep convert', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'skep-convert-'));
    mkdirSync(join(folder, 'deep'));
    writeFileSync(join(folder, 'deep/a.yaml'), manifest('MCPServer', ' {image: "a/b:1", groupRef: tools}\n'));
    writeFileSync(join(folder, 'deep/readme.md'), manifest('MCPServer', ' {image: "a/b:1", groupRef: tools}\n'));
    writeFileSync(join(folder, 'b.yml'), manifest('MCPGroup', ' {}\n', 'v1beta1'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const run = (...args: string[]) => skep(['convert', ...args], { cwd: folder });
  const text = () => readFileSync(join(folder, 'deep/a.yaml'), 'utf8');

  test('--check writes nothing, and exits with 2 until everything is converted', async () => {
    const before = text();
    expect(await run('.', '--check')).toMatchObject({ code: 2, stdout: 'deep/a.yaml: to be converted\n' });
    expect(text()).toBe(before);
    expect(await run('.')).toMatchObject({ code: 0, stdout: 'deep/a.yaml: converted\n' });
    expect(text()).toBe(manifest('MCPServer', ' {image: "a/b:1", groupRef: {name: tools}}\n', 'v1beta1'));
    expect(readFileSync(join(folder, 'deep/readme.md'), 'utf8')).toContain('groupRef: tools');
    expect(await run('.', '--check')).toMatchObject({ code: 0, stdout: '' });
  });

  test('a file that cannot be converted is named, and the exit code is 3; a path that does not exist is a usage error', async () => {
    writeFileSync(join(folder, 'broken.yaml'), 'a: [');
    const { code, stderr } = await run('broken.yaml');
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^broken.yaml: left unchanged: /)]);
    expect(await run('nowhere')).toMatchObject({ code: 64 });
  });
});
