import { expect, test } from 'vitest';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import type { JsonObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import { KINDS } from '../../kinds/index.ts';
import { type Loaded, load } from './load.ts';
import type { SoundFile, SoundFiles } from './sound-files.ts';
import type { SourceFile } from './source-file.ts';

const GROUP = 'toolhive.stacklok.dev';

/** Returns the files after a restart: only JSON is stored. */
function asLeft(left: ReadonlyMap<string, SoundFile>): ReadonlyMap<string, SoundFile> {
  return new Map(Object.entries(JSON.parse(JSON.stringify(Object.fromEntries(left)))));
}

function openFiles(found: ReadonlyMap<string, SoundFile> = new Map()) {
  const left = new Map<string, SoundFile>();
  const files: SoundFiles = {
    find: ({ oid, path }) => (found.get(oid)?.path === path ? found.get(oid) : undefined),
    add(oid, sound) {
      const heldAgainst = [...(left.get(oid)?.heldAgainst ?? []), ...sound.heldAgainst];
      left.set(oid, { ...sound, heldAgainst: [...new Set(heldAgainst)] });
    },
  };
  return { files, left };
}

interface Given {
  readonly texts: Readonly<Record<string, string>>;
  readonly more?: Partial<SourceFile>;
  readonly definitions?: readonly JsonObject[];
}

function loadWith({ texts, more, definitions }: Given, sound: SoundFiles): Loaded {
  const documents = Object.entries(texts).map(([path, text]) => ({ path, oid: `oid-${path}`, text, ...more }));
  const given = { source: 'fleet', documents, kinds: KINDS, apiGroup: GROUP, builtin: bundledSchema };
  return load({ ...given, cache: new Map(), sound, ...(definitions && { definitions }) });
}

/** Loads the same files in two successive processes. */
function loadTwice(first: Given, second = first) {
  const one = openFiles();
  const fresh = loadWith(first, one.files);
  const two = openFiles(asLeft(one.left));
  const again = loadWith(second, two.files);
  return { fresh, again, left: [...one.left.keys()], leftAgain: [...two.left.keys()] };
}

/** Returns the data that runs read from the result. */
function shown({ resources, problems, ...rest }: Loaded): object {
  const read = resources.map(({ id, object, kind, defaulted, legible, place }) => {
    return { id, object, kind: kind?.kind, defaulted, legible, place: place('/metadata/name') };
  });
  return { read, problems: problems.map(formatProblem), ...rest };
}

const SERVER = `apiVersion: ${GROUP}/v1alpha1
kind: MCPServer
metadata:
  name: one
  namespace: team
spec:
  image: example.com/one:1
  transport: stdio
`;
const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: one
  namespace: team
data:
  "yes": "1e3"
`;
const LIST = `${CONFIG.replace('one', 'two')}---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: three, namespace: team}, data: {a: "\\u0000\\ud800", b: 'ü'}}
`;

test('a stored file has the same result as a file that is read again, with defaults and places', () => {
  const { fresh, again, left, leftAgain } = loadTwice({
    texts: { 'a.yaml': SERVER, 'b.yaml': CONFIG, 'c.yaml': LIST },
  });
  expect(fresh.resources.map(({ id }) => id.name)).toEqual(['one', 'one', 'two', 'three']);
  expect(fresh.resources[0]?.defaulted?.spec).toMatchObject({ proxyMode: expect.any(String) });
  expect(shown(again)).toEqual(shown(fresh));
  expect(left).toEqual(['oid-a.yaml', 'oid-b.yaml', 'oid-c.yaml']);
  expect(leftAgain).toEqual(left);
});

test('a stored file is neither parsed nor checked again', () => {
  const { files, left } = openFiles();
  loadWith({ texts: { 'a.yaml': SERVER, 'b.yaml': CONFIG } }, files);
  const planted = new Map(
    [...left].map(([oid, sound]) => [oid, JSON.parse(JSON.stringify(sound).replaceAll('stdio', 'none'))]),
  );
  const again = loadWith({ texts: { 'a.yaml': 'no: [yaml', 'b.yaml': CONFIG } }, openFiles(planted).files);
  expect(again.problems).toEqual([]);
  expect(again.resources.map(({ object }) => object.spec ?? object.data)).toEqual([
    { image: 'example.com/one:1', transport: 'none' },
    { yes: '1e3' },
  ]);
});

test.each([
  {
    reason: 'a Secret',
    text: `${CONFIG}---\n${CONFIG.replace('ConfigMap', 'Secret').replace('\ndata', '\nstringData')}`,
  },
  { reason: 'a decrypted file', text: CONFIG, more: { openings: [] } },
  { reason: 'a file without its long values', text: CONFIG, more: { shortened: { blob: 'a', cuts: [] } } },
  { reason: 'values that repeat others', text: CONFIG.replace('"yes": "1e3"', 'a: &a "1"\n  b: *a') },
  { reason: 'an invalid file', text: SERVER.replace('stdio', 'none') },
  {
    reason: 'a file with a warning',
    text: 'apiVersion: v1\nkind: Namespace\nmetadata: {name: one, namespace: team}\n',
  },
  { reason: 'a file without an identity', text: 'a: b\n' },
  { reason: 'a file that is not YAML', text: 'a: b: c\n' },
])('$reason is not stored', ({ text, more }) => {
  const { fresh, again, left } = loadTwice({ texts: { 'a.yaml': text }, ...(more && { more }) });
  expect(left).toEqual([]);
  expect(shown(again)).toEqual(shown(fresh));
});

test('a file that was valid with other kinds is checked again', () => {
  const definition = (type: string) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Thing', plural: 'things' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { size: { type } } } },
        },
      ],
    },
  });
  const texts = {
    'a.yaml': 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: team}\nsize: 1\n',
  };
  const { fresh, again, left, leftAgain } = loadTwice(
    { texts, definitions: [definition('integer')] },
    { texts, definitions: [definition('string')] },
  );
  expect(fresh.problems).toEqual([]);
  expect(left).toEqual(['oid-a.yaml']);
  expect(again.problems.map(({ code }) => code)).toEqual(['schema-type']);
  expect(leftAgain).toEqual([]);
});

test('a file that was checked with two kind tables is not checked again with either table', () => {
  const definitions = [{ kind: 'CustomResourceDefinition', metadata: { name: 'things.example.com' }, spec: {} }];
  const one = openFiles();
  const givens = [{ texts: { 'a.yaml': SERVER } }, { texts: { 'a.yaml': SERVER }, definitions }];
  for (const given of givens) loadWith(given, one.files);
  expect(one.left.get('oid-a.yaml')?.heldAgainst).toHaveLength(2);
  const broken = new Map([...asLeft(one.left)].map(([oid, sound]) => [oid, { ...sound, objects: [] }]));
  for (const given of givens) expect(loadWith(given, openFiles(broken).files).resources).toEqual([]);
});
