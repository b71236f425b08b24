// Tests loading the documents of one source. In one file, because every test loads texts with the same two helpers.

import { describe, expect, test } from 'vitest';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import type { JsonObject } from '#std/json.ts';
import { formatId, formatProblem } from '#std/problem.ts';
import { KINDS } from '../../kinds/index.ts';
import { type Loaded, type LoadInput, load } from './load.ts';
import type { LoadCache } from './source-file.ts';

const GROUP = 'toolhive.stacklok.dev';

function loaded(files: Readonly<Record<string, string>>, more: Partial<LoadInput> = {}): Loaded {
  const documents = Object.entries(files).map(([path, text]) => ({ path, oid: text, text }));
  return load({ source: 'fleet', documents, kinds: KINDS, apiGroup: GROUP, builtin: bundledSchema, ...more });
}

/** Compares the problems as lines of text, and the result for the source. */
function check(
  text: string,
  more: Partial<LoadInput> = {},
): { problems: string[]; unidentified: boolean; invalid: string[] } {
  const { problems, unidentified, invalid } = loaded({ 'a.yaml': text }, more);
  return { problems: problems.map(formatProblem), unidentified, invalid: invalid.map(formatId) };
}

const FINE = { problems: [], unidentified: false, invalid: [] };

function server(spec: string, name = 'one'): string {
  return `apiVersion: ${GROUP}/v1alpha1
kind: MCPServer
metadata:
  name: ${name}
  namespace: team
spec:
${spec}`;
}

function configMap(name: string, more = ''): string {
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  namespace: team
${more}`;
}

test('a file of more than 4 MiB is not read', () => {
  expect(check(`# ${'x'.repeat(4 * 1024 * 1024)}\n${configMap('one')}`)).toEqual({
    problems: ['a.yaml:1:1: error file-too-large: The file has more than 4 MiB: split it into several files.'],
    unidentified: true,
    invalid: [],
  });
});

test.each([
  { what: 'a name that is not one', metadata: '{ name: Bad_Name, namespace: team }', code: 'invalid-name' },
  { what: 'no name', metadata: '{ namespace: team }', code: 'missing-identity' },
  { what: 'no namespace', metadata: '{ name: one }', code: 'invalid-namespace' },
])('an object with $what is checked further', ({ metadata, code }) => {
  const group = `apiVersion: ${GROUP}/v1beta1\nkind: MCPGroup\nmetadata: ${metadata}\nspec: { descriptio: x }\n`;
  const { problems, unidentified } = loaded({ 'a.yaml': group });
  expect(problems.map((problem) => problem.code)).toEqual([code, 'schema-unknown-field']);
  expect(unidentified).toBe(true);
});

test('if an object has very many faults, some are shown and the others are counted', () => {
  const values = Array.from({ length: 1000 }, (_, place) => `  k${place}: [${place}]\n`).join('');
  const { problems, invalid } = check(configMap('one', `data:\n${values}`));
  expect(problems).toHaveLength(201);
  expect(problems[0]).toBe(
    'a.yaml:1:1: error more-problems: 800 errors more in this object: correct those that are shown first (team/ConfigMap/one)',
  );
  expect(invalid).toEqual(['team/ConfigMap/one']);
});

describe('bad input leads to one clear line, with its place', () => {
  test.each([
    {
      reason: 'broken YAML',
      text: 'kind: MCPServer\nspec: a: b\n',
      problem:
        'a.yaml:2:7: error yaml-syntax: This value needs quotes if it is a text with ": ". If the line below is another field, begin it in the column of this one.',
      unidentified: true,
      invalid: [],
    },
    {
      reason: 'a duplicate key',
      text: server('  image: a\n  transport: sse\n  image: b\n'),
      problem:
        'a.yaml:9:3: error yaml-duplicate-key: The key "image" is set twice in this mapping. (team/MCPServer/one)',
      unidentified: false,
      invalid: ['team/MCPServer/one'],
    },
    {
      reason: 'an unknown field',
      text: server('  image: a\n  trasnport: sse\n'),
      problem:
        'a.yaml:8:3: error schema-unknown-field: spec has no field "trasnport", so the API server would drop it. Did you mean "transport"? (team/MCPServer/one)',
      unidentified: false,
      invalid: ['team/MCPServer/one'],
    },
    {
      reason: 'a field of pods, with the way to do the same here',
      text: server('  image: a\n  env:\n    - {name: A, value: "", valueFrom: {secretKeyRef: {name: s, key: k}}}\n'),
      problem:
        'a.yaml:9:28: error schema-unknown-field: spec.env[0] has no field "valueFrom", so the API server would drop it. For a value of a Secret, set spec.secrets to [{name, key, targetEnvName}]. (team/MCPServer/one)',
      unidentified: false,
      invalid: ['team/MCPServer/one'],
    },
    {
      reason: 'a wrong enum',
      text: server('  image: a\n  transport: stdoi\n'),
      problem:
        'a.yaml:8:14: error schema-enum: spec.transport must be one of "stdio", "streamable-http", "sse". Did you mean "stdio"? (team/MCPServer/one)',
      unidentified: false,
      invalid: ['team/MCPServer/one'],
    },
    {
      reason: 'a missing field is shown at its place',
      text: server('  transport: sse\n'),
      problem: 'a.yaml:6:1: error schema-required: spec.image is required. (team/MCPServer/one)',
      unidentified: false,
      invalid: ['team/MCPServer/one'],
    },
    {
      reason: 'an unquoted number',
      text: configMap('c', 'data:\n  port: 8080\n'),
      problem:
        'a.yaml:7:9: error schema-type: data.port must be a string, not an integer: put it in quotes. (team/ConfigMap/c)',
      unidentified: false,
      invalid: ['team/ConfigMap/c'],
    },
    {
      reason: 'a label that YAML reads as a boolean',
      text: configMap('c', '  labels:\n    enabled: yes\n'),
      problem:
        'a.yaml:7:14: error schema-type: metadata.labels.enabled must be a string, not a boolean: put it in quotes. (team/ConfigMap/c)',
      unidentified: false,
      invalid: ['team/ConfigMap/c'],
    },
    {
      reason: 'an invalid label value',
      text: configMap('c', '  labels:\n    team: a b\n'),
      problem:
        'a.yaml:7:11: error invalid-label: metadata.labels.team must consist of letters, digits, "-", "_" and ".", and start and end with a letter or digit. (team/ConfigMap/c)',
      unidentified: false,
      invalid: ['team/ConfigMap/c'],
    },
    {
      reason: 'an unknown field of a built-in kind',
      text: configMap('c', 'dta: {}\n'),
      problem:
        'a.yaml:6:1: error schema-unknown-field: ConfigMap has no field "dta". Did you mean "data"? (team/ConfigMap/c)',
      unidentified: false,
      invalid: ['team/ConfigMap/c'],
    },
  ])('$reason', ({ text, problem, unidentified, invalid }) => {
    expect(check(text)).toEqual({ problems: [problem], unidentified, invalid });
  });

  test('an integer that would be rounded', () => {
    expect(check(server('  image: a\n  replicas: 9007199254740993\n')).problems).toContain(
      'a.yaml:8:13: error yaml-integer-precision: An integer beyond 2^53 would be rounded on its way: quote it, or write a smaller one. (team/MCPServer/one)',
    );
  });

  test('an entry of a registry with two sources', () => {
    const { problems, invalid } = check(`apiVersion: ${GROUP}/v1alpha1
kind: MCPRegistry
metadata:
  name: main
  namespace: team
spec:
  registries:
    - name: both
      configMapRef: {name: data, key: registry.json}
      git: {repository: https://git.example.com/data.git}
`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^a\.yaml:8:7: error cel-rule: spec\.registries\[0\]: .+ \(team\/MCPRegistry\/main\)$/);
    expect(invalid).toEqual(['team/MCPRegistry/main']);
  });
});

describe('deletions are suspended by', () => {
  test.each([
    {
      reason: 'no kind',
      text: 'apiVersion: v1\nmetadata: {name: x}\n',
      problem: 'a.yaml:1:1: error missing-identity: kind is missing.',
    },
    {
      reason: 'no name',
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: team}\n',
      problem: 'a.yaml:3:1: error missing-identity: metadata.name is missing.',
    },
    {
      reason: 'a name that is generated',
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-}\n',
      problem:
        'a.yaml:3:1: error missing-identity: metadata.name is missing: generateName creates a new object each time, and cannot be declared.',
    },
    {
      reason: 'a name that is a number',
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}\n',
      problem: 'a.yaml:3:18: error missing-identity: metadata.name must be a string, not an integer: put it in quotes.',
    },
    {
      reason: 'no mapping',
      text: '- a\n',
      problem:
        'a.yaml:1:1: error document-not-object: A manifest is a mapping with apiVersion, kind and metadata, not a list.',
    },
    {
      reason: 'a slip in the kind',
      text: `apiVersion: ${GROUP}/v1alpha1\nkind: MCPSever\nmetadata: {name: x, namespace: team}\n`,
      problem: `a.yaml:2:7: error unknown-kind: ${GROUP}/v1alpha1 has no kind MCPSever. Did you mean "MCPServer"?`,
    },
    {
      reason: 'another version of our kinds',
      text: `apiVersion: ${GROUP}/v1\nkind: MCPServer\nmetadata: {name: x, namespace: team}\n`,
      problem: `a.yaml:2:7: error unknown-kind: MCPServer is not served in ${GROUP}/v1, but in ${GROUP}/v1alpha1 or ${GROUP}/v1beta1.`,
    },
    {
      reason: 'our version without its group',
      text: 'apiVersion: v1beta1\nkind: MCPServer\nmetadata: {name: x, namespace: team}\n',
      problem: `a.yaml:2:7: error unknown-kind: There is no MCPServer in v1beta1. Did you mean "${GROUP}/v1beta1"?`,
    },
    {
      reason: 'a built-in kind under a wrong apiVersion',
      text: 'apiVersion: v1\nkind: Deployment\nmetadata: {name: x, namespace: team}\n',
      problem: 'a.yaml:2:7: error unknown-kind: There is no Deployment in v1. Did you mean "apps/v1"?',
    },
    {
      reason: 'an unknown kind',
      text: 'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: x, namespace: team}\n',
      problem:
        'a.yaml:2:7: error unknown-kind: Certificate of cert-manager.io/v1 is not known: add its CustomResourceDefinition to the same source, or to the cluster.',
    },
    {
      reason: 'no namespace',
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n',
      problem:
        'a.yaml:3:1: error invalid-namespace: ConfigMap "x" needs metadata.namespace: without it the object cannot be identified. Add it, or set `namespace` of the source in skep.yaml.',
    },
    {
      reason: 'a name that no server accepts',
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: X_y, namespace: team}\n',
      problem:
        'a.yaml:3:18: error invalid-name: metadata.name must consist of lower case letters, digits, "-" and ".", and every part must start and end with a letter or digit.',
    },
    {
      reason: 'a namespace that no server accepts',
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a.b}\n',
      problem:
        'a.yaml:3:32: error invalid-namespace: metadata.namespace must consist of lower case letters, digits and "-", and start and end with a letter or digit.',
    },
  ])('$reason', ({ text, problem }) => {
    expect(check(text)).toEqual({ problems: [problem], unidentified: true, invalid: [] });
  });

  test('a duplicate name', () => {
    const { unidentified, problems } = check(
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\n  namespace: team\n',
    );
    expect(unidentified).toBe(true);
    expect(problems).toHaveLength(1);
  });

  test('no fault outside the identity', () => {
    expect(check(configMap('c', 'data: 5\n')).unidentified).toBe(false);
  });

  test('a broken document does not affect other documents of the file', () => {
    const { resources, unidentified } = loaded({ 'a.yaml': `${configMap('c')}---\nkind: [\n---\n${configMap('d')}` });
    expect(resources.map(({ id }) => id.name)).toEqual(['c', 'd']);
    expect(unidentified).toBe(true);
  });
});

describe('resources', () => {
  test('have no defaults in the applied object; only the logic of the kind gets defaults', () => {
    const [resource] = loaded({ 'a.yaml': server('  image: a\n') }).resources;
    expect(resource?.object.spec).toEqual({ image: 'a' });
    expect(resource?.defaulted?.spec).toMatchObject({ image: 'a', transport: 'stdio', proxyPort: 8080 });
    expect(resource?.kind?.kind).toBe('MCPServer');
  });

  test('of foreign kinds have no `kind`', () => {
    const [resource] = loaded({ 'a.yaml': configMap('c') }).resources;
    expect(resource?.kind).toBeUndefined();
    expect(resource?.defaulted).toBeUndefined();
  });

  test('include invalid resources, without defaults', () => {
    const { resources, invalid } = loaded({ 'a.yaml': server('  transport: sse\n') });
    expect(resources.map(({ id, defaulted }) => [formatId(id), defaulted])).toEqual([
      ['team/MCPServer/one', undefined],
    ]);
    expect(invalid.map(formatId)).toEqual(['team/MCPServer/one']);
  });

  test('get the default namespace if they declare none', () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n';
    const documents = [{ path: 'a.yaml', oid: text, text, namespace: 'given' }];
    const { resources } = loaded({}, { documents });
    expect(resources[0]?.object.metadata).toEqual({ name: 'x', namespace: 'given' });
    expect(resources[0]?.id.namespace).toBe('given');
  });

  test('of cluster-scoped kinds lose their namespace, with a warning', () => {
    const { resources, problems } = loaded({
      'a.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x, namespace: y}\n',
    });
    expect(resources[0]?.object.metadata).toEqual({ name: 'x' });
    expect(problems.map(formatProblem)).toEqual([
      'a.yaml:3:32: warning invalid-namespace: Namespace is cluster-scoped: the namespace is ignored. (Namespace/x)',
    ]);
  });

  test('have places', () => {
    const text = `${configMap('c')}---\n${server('  image: a\n  env:\n    - name: A\n      value: x\n')}`;
    const [, resource] = loaded({ 'x/a.yaml': text }).resources;
    expect(resource?.place('/spec/env/0/value')).toEqual({ file: 'x/a.yaml', line: 16, column: 14 });
    expect(resource?.place('/spec/env', 'key')).toEqual({ file: 'x/a.yaml', line: 14, column: 3 });
    expect(resource?.place('/spec/absent')).toEqual({ file: 'x/a.yaml', line: 12, column: 1 });
  });

  test('are read only from YAML and JSON', () => {
    const json = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'j', namespace: 'team' } });
    const files = {
      'a.yaml': configMap('a'),
      'b.yml': configMap('b'),
      'c.json': json,
      'd.md': 'kind: [',
      'e.yaml.tmpl': '{{',
    };
    expect(loaded(files).resources.map(({ id }) => id.name)).toEqual(['a', 'b', 'j']);
  });
});

describe('lists', () => {
  const LIST = `apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: a, namespace: team}
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: b, namespace: team}
    dta: {}
`;

  test('are replaced by their items, each at its own place', () => {
    const { resources, problems } = loaded({ 'a.yaml': LIST });
    expect(resources.map(({ id }) => id.name)).toEqual(['a', 'b']);
    expect(resources[1]?.place('/metadata/name')).toEqual({ file: 'a.yaml', line: 9, column: 22 });
    expect(problems.map(({ pointer, place }) => [pointer, place?.line])).toEqual([['/items/1/dta', 10]]);
  });

  test('of one kind define the kind of their items', () => {
    const text = 'apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a, namespace: team}\n';
    expect(loaded({ 'a.yaml': text }).resources.map(({ id }) => formatId(id))).toEqual(['team/ConfigMap/a']);
  });

  test('may be empty', () => {
    expect(check('apiVersion: v1\nkind: List\nitems: []\n')).toEqual(FINE);
  });
});

describe('the same object twice', () => {
  test('is a problem with both places, and the live object is kept unchanged', () => {
    const { resources, problems, invalid } = loaded({ 'a.yaml': configMap('c'), 'b.yaml': `---\n${configMap('c')}` });
    expect(problems.map(formatProblem)).toEqual([
      'b.yaml:5:9: error duplicate-resource: team/ConfigMap/c is declared already, at a.yaml:4:9. (team/ConfigMap/c)',
    ]);
    expect(resources).toHaveLength(1);
    expect(invalid.map(formatId)).toEqual(['team/ConfigMap/c']);
  });

  test('may have different versions', () => {
    const one = (version: string): string =>
      `apiVersion: ${version}\nkind: Thing\nmetadata: {name: x, namespace: team}\n`;
    const files = { 'a.yaml': one('example.com/v1'), 'b.yaml': one('example.com/v2'), 'c.yaml': definition({}) };
    expect(loaded(files).problems.map(({ code }) => code)).toEqual(['duplicate-resource']);
  });
});

function definition(spec: object): string {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    },
  };
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v2', served: true, storage: false, schema },
      ],
      ...spec,
    },
  });
}

describe('a CustomResourceDefinition in the same input', () => {
  const thing = (spec: string): string =>
    `apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x, namespace: team}\nspec: ${spec}\n`;

  test('defines its kind for all files', () => {
    const { problems, unidentified } = loaded({ 'a.yaml': thing('{size: 1}'), 'z.json': definition({}) });
    expect({ problems, unidentified }).toEqual({ problems: [], unidentified: false });
  });

  test('defines the schema of its objects', () => {
    const { problems } = loaded({ 'a.yaml': thing('{size: big}'), 'z.json': definition({}) });
    expect(problems.map(formatProblem)).toEqual([
      'a.yaml:4:14: error schema-type: spec.size must be an integer, not a string. (team/Thing/x)',
    ]);
  });

  test('is itself checked as the server would check it', () => {
    const { problems } = loaded({ 'z.json': definition({ scope: 'Global' }) });
    expect(problems.map(({ code, pointer }) => [code, pointer])).toEqual([['schema-enum', '/spec/scope']]);
  });
});

describe('the cache', () => {
  function counting(): LoadCache & { hits: number; misses: number } {
    const values = new Map<string, unknown>();
    return {
      hits: 0,
      misses: 0,
      get(key) {
        const value = values.get(key);
        if (value === undefined) this.misses++;
        else this.hits++;
        return value;
      },
      // Copies values, as a cache on disk does.
      set: (key, value) => void values.set(key, JSON.parse(JSON.stringify(value))),
    };
  }

  const FILES = { 'a.yaml': server('  image: a\n'), 'b.yaml': configMap('c', 'dta: {}\n') };

  test('has the same result for unchanged content', () => {
    const cache = counting();
    const first = loaded(FILES, { cache });
    expect(cache.hits).toBe(0);
    const { misses } = cache;
    const second = loaded(FILES, { cache });
    expect(cache.misses).toBe(misses);
    expect(second.problems).toEqual(first.problems);
    expect(second.resources.map(({ object, defaulted }) => [object, defaulted])).toEqual(
      first.resources.map(({ object, defaulted }) => [object, defaulted]),
    );
    expect(second.resources[0]?.place('/spec/image')).toEqual({ file: 'a.yaml', line: 7, column: 10 });
  });

  test('has no result for another content, path or schema', () => {
    const cache = counting();
    loaded(FILES, { cache });
    const renamed = loaded({ 'moved.yaml': FILES['b.yaml'] }, { cache });
    expect(renamed.problems[0]?.place?.file).toBe('moved.yaml');
    const foreign = loaded({ 'a.yaml': FILES['a.yaml'] }, { cache, apiGroup: 'other.example.com' });
    expect(foreign.problems.map(({ code }) => code)).toEqual(['unknown-kind']);
    expect(loaded({ 'a.yaml': server('  image: b\n') }, { cache }).resources[0]?.object.spec).toEqual({ image: 'b' });
  });
});

describe('a foreign kind', () => {
  const certificate = (name: string, more = '') =>
    `apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: ${name}, namespace: team${more}}\nspec: {dnsNames: [a.example.com]}\n`;
  const definition = (spec: JsonObject): JsonObject => ({
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'cert-manager.io',
      scope: 'Namespaced',
      names: { kind: 'Certificate', plural: 'certificates' },
      versions: [{ name: 'v1', served: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  });

  test('is reported to the caller, so that its CRD can be read', () => {
    const { foreign } = loaded({ 'a.yaml': `${certificate('a')}---\n${certificate('b')}` });
    expect(foreign).toEqual([{ apiVersion: 'cert-manager.io/v1', kind: 'Certificate' }]);
  });

  test('is reported once if it is not refused, and only the rules for all objects are checked', () => {
    const text = `${certificate('a')}---\n${certificate('b', ', labels: {a: 1}')}`;
    expect(check(text, { foreign: 'unchecked' })).toEqual({
      problems: [
        'a.yaml:2:7: warning kind-not-checked: Certificate of cert-manager.io/v1 has no schema here, so its 2 objects are not checked: add its CustomResourceDefinition to these manifests, or name its folder with --schemas. (team/Certificate/a)',
        'a.yaml:8:50: error schema-type: metadata.labels.a must be a string, not an integer: put it in quotes. (team/Certificate/b)',
      ],
      unidentified: false,
      invalid: ['team/Certificate/b'],
    });
  });

  test('is checked with a given CRD', () => {
    const strings = definition({ type: 'object', properties: { dnsNames: { type: 'string' } } });
    expect(check(certificate('a'), { definitions: [strings] }).problems).toEqual([
      'a.yaml:4:18: error schema-type: spec.dnsNames must be a string, not a list. (team/Certificate/a)',
    ]);
  });

  test.each([
    { apiVersion: 'app/v1', kind: 'Deployment', reason: 'only Kubernetes has groups without a dot' },
    { apiVersion: 'apps/v1beta1', kind: 'Deployment', reason: 'the group is known' },
    { apiVersion: 'toolhive.stacklock.dev/v1alpha1', kind: 'MCPServer', reason: 'the kind is one of ours' },
  ])('cannot be $apiVersion $kind, because $reason', ({ apiVersion, kind }) => {
    const text = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a, namespace: team}\n`;
    expect(loaded({ 'a.yaml': text }, { foreign: 'unchecked' }).problems.map(({ code }) => code)).toEqual([
      'unknown-kind',
    ]);
  });
});

test('problems are sorted by file, line and column', () => {
  const { problems } = loaded({
    'b.yaml': configMap('b', 'dta: {}\n'),
    'a.yaml': server('  transport: x\n  imgae: y\n'),
  });
  expect(problems.map(({ place }) => `${place?.file}:${place?.line}`)).toEqual([
    'a.yaml:6',
    'a.yaml:7',
    'a.yaml:8',
    'b.yaml:6',
  ]);
});
