// Tests that references of kustomizations are followed, or refused before kustomize reads them.

import { expect, test } from 'vitest';
import { formatProblem } from '#std/problem.ts';
import { planKustomizations } from './inputs.ts';
import { type Tree, treeOfCheckout } from './tree.ts';
import { traceKustomization } from './walk.ts';

type Contents = Readonly<Record<string, string>>;

function treeOf(contents: Contents, links: readonly string[] = []): Tree {
  const files = Object.keys(contents).sort();
  return treeOfCheckout({
    commit: '0'.repeat(40),
    files: files.map((path) => ({ path, oid: path })),
    skipped: links.map((path) => ({ path, reason: 'symlink' })),
    read: async (oids) => new Map(oids.map((oid) => [oid, Buffer.from(contents[oid] ?? '')])),
  });
}

/** Checks which files the build of `prod` reads, kustomizations first. */
async function check(contents: Contents, expected: readonly string[]): Promise<void> {
  const { kustomizations, files, problems } = await traceKustomization(treeOf(contents), 'prod');
  expect(problems.map(formatProblem)).toEqual([]);
  expect([...kustomizations.keys(), ...files]).toEqual(expected);
}

test('the paths in every field are followed', async () => {
  const contents = {
    'prod/kustomization.yaml': `
resources: [a.yaml, ../base, ./x/../b.yaml]
components: [../component]
crds: [crd.yaml]
patchesStrategicMerge: [p1.yaml, "kind: A\\nmetadata: {name: b}\\n"]
patches: [{path: p2.yaml}, {patch: "- op: remove", target: {kind: A}}]
patchesJson6902: [{path: p3.yaml, target: {kind: A}}]
replacements: [{path: r.yaml}, {source: {kind: A}, targets: []}]
configMapGenerator: [{name: c, files: [c1.txt, key=c2.txt], envs: [c3.env], literals: ["a=../../x"]}]
secretGenerator: [{name: s, files: [../shared/s.txt], env: s.env, type: Opaque}]
namespace: n
`,
    'base/kustomization.yml': 'bases: [../deeper]',
    'deeper/Kustomization': 'resources: [d.yaml]',
    'component/kustomization.yaml': 'kind: Component\npatches: [{path: ../prod/p2.yaml}]',
    ...Object.fromEntries(['a', 'b', 'crd', 'p1', 'p2', 'p3', 'r'].map((name) => [`prod/${name}.yaml`, ''])),
    ...Object.fromEntries(['c1.txt', 'c2.txt', 'c3.env', 's.env'].map((name) => [`prod/${name}`, ''])),
    'deeper/d.yaml': '',
    'shared/s.txt': '',
  };
  await check(contents, [
    'prod/kustomization.yaml',
    'base/kustomization.yml',
    'deeper/Kustomization',
    'component/kustomization.yaml',
    'prod/a.yaml',
    'deeper/d.yaml',
    'prod/b.yaml',
    'prod/p2.yaml',
    'prod/crd.yaml',
    'prod/p1.yaml',
    'prod/p3.yaml',
    'prod/r.yaml',
    'prod/c1.txt',
    'prod/c2.txt',
    'prod/c3.env',
    'shared/s.txt',
    'prod/s.env',
  ]);
});

const OUTSIDE = [
  'https://example.com/x.yaml',
  'https:/example.com/x.yaml',
  'http://127.0.0.1/x.yaml',
  'github.com/someone/something',
  'GitHub.com/someone/something?ref',
  'git@example.com:a/b.git',
  'git@github.com/a/b',
  'git::https://example.com/a',
  'gh:a/b',
  'ssh://git@example.com/a.git',
  'file:///etc',
  '../local.git',
  '../local.git//base',
  '/etc/passwd',
  '../../outside.yaml',
  '../prod/../../outside.yaml',
  './../../../etc/passwd',
  'a\\..\\..\\b.yaml',
];

const FIELDS: readonly ((path: string) => string)[] = [
  (path) => `resources: [${path}]`,
  (path) => `bases: [${path}]`,
  (path) => `components: [${path}]`,
  (path) => `crds: [${path}]`,
  (path) => `patchesStrategicMerge: [${path}]`,
  (path) => `patches: [{path: ${path}}]`,
  (path) => `patchesJson6902: [{path: ${path}}]`,
  (path) => `replacements: [{path: ${path}}]`,
  (path) => `configMapGenerator: [{name: a, files: [${path}]}]`,
  (path) => `configMapGenerator: [{name: a, files: [${JSON.stringify(`key=${JSON.parse(path)}`)}]}]`,
  (path) => `configMapGenerator: [{name: a, envs: [${path}]}]`,
  (path) => `secretGenerator: [{name: a, env: ${path}}]`,
];

/** Paths that look like URLs. Files and folders with these names exist. */
const TEMPTING = [
  'prod/https:/example.com/x.yaml',
  'prod/github.com/someone/something/kustomization.yaml',
  'local.git/base/kustomization.yaml',
];

test.each(OUTSIDE)('%s is refused in every field', async (path) => {
  for (const field of FIELDS) {
    const text = field(JSON.stringify(path));
    const contents = { 'prod/kustomization.yaml': text, ...Object.fromEntries(TEMPTING.map((each) => [each, ''])) };
    const { problems, files, used } = await traceKustomization(treeOf(contents), 'prod');
    expect([text, problems.map(({ code, place }) => [code, place?.line])]).toEqual([
      text,
      [['kustomization-outside', 1]],
    ]);
    expect([...files, ...used]).toEqual([]);
  }
});

test.each([
  ['helmCharts: [{name: a, repo: b}]', 'kustomization-refused', 'helm template'],
  ['helmGlobals: {}', 'kustomization-refused', 'helm template'],
  ['generators: [a.yaml]', 'kustomization-refused', 'plugins'],
  ['transformers: [a.yaml]', 'kustomization-refused', 'plugins'],
  ['validators: [a.yaml]', 'kustomization-refused', 'plugins'],
  ['configurations: [a.yaml]', 'kustomization-refused', 'objects are read'],
  ['openapi: {path: a.json}', 'kustomization-refused', 'objects are read'],
  ['Resources: [/etc/passwd]', 'kustomization-refused', 'not a field'],
  ['newField: [/etc/passwd]', 'kustomization-refused', 'not a field'],
  ['configMapGenerator: [{name: a, Files: [/etc/passwd]}]', 'kustomization-refused', '`Files`'],
  ['configMapGenerator: [{name: a, kvSources: []}]', 'kustomization-refused', '`kvSources`'],
  ['patches: [{Path: /etc/passwd}]', 'kustomization-refused', '`Path`'],
  ['resources: {a: b}', 'kustomization-invalid', 'a list'],
  ['resources: [7]', 'kustomization-invalid', 'a path'],
  ['patches: [a.yaml]', 'kustomization-invalid', 'a mapping'],
  ['- a', 'kustomization-invalid', 'one document'],
  ['{}\n---\n{}', 'kustomization-invalid', 'one document'],
  ['apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization', 'kustomization-invalid', 'rename'],
  ['kind: ConfigMap', 'kustomization-invalid', 'rename'],
  ['resources: [a.yaml]\nresources: [b.yaml]', 'yaml-duplicate-key', 'resources'],
  ['resources: [nothing.yaml]', 'kustomization-path', 'is not a file or folder'],
  ['components: [a.yaml]', 'kustomization-path', 'is not a folder'],
  ['patches: [{path: ../empty}]', 'kustomization-path', 'is not a file'],
  ['resources: [../empty]', 'kustomization-path', 'without a kustomization.yaml'],
  ['resources: [link.yaml]', 'kustomization-path', 'symbolic link'],
  ['resources: [links/b.yaml]', 'kustomization-path', 'symbolic link'],
  ['resources: [.]', 'kustomization-path', 'circle'],
  ['resources: [../circle]', 'kustomization-path', 'circle'],
])('%s is refused with %s', async (text, code, words) => {
  const contents = {
    'prod/kustomization.yaml': text,
    'prod/a.yaml': '',
    'prod/b.yaml': '',
    'empty/x.txt': '',
    'circle/kustomization.yaml': 'resources: [../prod]',
  };
  const { problems } = await traceKustomization(treeOf(contents, ['prod/link.yaml', 'prod/links']), 'prod');
  expect(problems.map((each) => each.code)).toEqual([code]);
  expect(problems[0]?.message).toContain(words);
  expect(problems[0]?.place?.line).toBeGreaterThan(0);
});

test('ten thousand files are too many, and so are ten thousand kustomizations', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `f${index}`);
  const files = {
    'prod/kustomization.yaml': `resources: [${names}]`,
    ...Object.fromEntries(names.map((name) => [`prod/${name}`, ''])),
  };
  const many = await traceKustomization(treeOf(files), 'prod');
  expect(many.problems.map(({ code }) => code)).toEqual(['kustomization-too-large']);
  const chain = Object.fromEntries(
    names.map((name, index) => [`${name}/kustomization.yaml`, `resources: [../f${index + 1}]`]),
  );
  const { problems } = await traceKustomization(treeOf({ ...chain, 'f10000/kustomization.yaml': '{}' }), 'f0');
  expect(problems.map(({ code }) => code)).toEqual(['kustomization-too-large']);
});

const FLEET = {
  'fleet/plain.yaml': '',
  'fleet/a/kustomization.yaml': 'resources: [x.yaml, inner]',
  'fleet/a/x.yaml': '',
  'fleet/a/unused.yaml': '',
  'fleet/a/inner/kustomization.yaml': '{}',
  'fleet/base/kustomization.yaml': 'resources: [y.yaml]',
  'fleet/base/y.yaml': '',
  'fleet/b/kustomization.yaml': 'resources: [../base, ../shared/z.yaml]\ncomponents: [../component]',
  'fleet/component/kustomization.yaml': 'kind: Component',
  'fleet/lonely/kustomization.yaml': 'kind: Component',
  'fleet/shared/z.yaml': '',
  'fleet/shared/w.yaml': '',
  'fleet/drafts/kustomization.yaml': 'resources: [missing.yaml]',
  'fleet/drafts/v.yaml': '',
  'other/kustomization.yaml': '{}',
  'other/u.yaml': '',
};

test('the topmost kustomizations are built, and files in their folders are not read as manifests', async () => {
  const { inputs, covers, walks } = await planKustomizations({
    tree: treeOf(FLEET),
    folder: 'fleet',
    isRead: (path) => !path.includes('/drafts/'),
  });
  expect(inputs.map(({ folder }) => folder)).toEqual(['fleet/a', 'fleet/b']);
  expect(walks.flatMap(({ problems }) => problems)).toEqual([]);
  expect(Object.keys(FLEET).filter((path) => !covers(path))).toEqual([
    'fleet/plain.yaml',
    'fleet/shared/w.yaml',
    'fleet/drafts/kustomization.yaml',
    'fleet/drafts/v.yaml',
    'other/kustomization.yaml',
    'other/u.yaml',
  ]);
});

test('a base above the folder of the source does not hide files of the source', async () => {
  const tree = treeOf({
    'kustomization.yaml': '{}',
    'fleet/a/kustomization.yaml': 'resources: [../..]',
    'fleet/x.yaml': '',
  });
  const { inputs, covers } = await planKustomizations({ tree, folder: 'fleet', isRead: () => true });
  expect([inputs.map(({ folder }) => folder), covers('fleet/x.yaml')]).toEqual([['fleet/a'], false]);
});
