// manifests/chart makes what kustomize makes of the other folders of manifests, object by object. Helm and kubectl are asked
// where they are; without them, our own readers of both are.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { canonicalJson, isObject, type JsonObject } from '#std/json.ts';
import { kustomized } from '../../scripts/chart/kustomize.ts';
import { chartFiles } from '../../scripts/chart.ts';
import { documentsIn, INSTALL } from '../cluster/account.ts';
import { hasKubectl, rendered } from '../cluster/rendered.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { render } from './render.ts';

const MANIFESTS = join(INSTALL, '..');
const CHART = join(MANIFESTS, 'chart');
const folder = temporaryFolder();
afterAll(() => folder.remove());

const hasHelm = (() => {
  try {
    return execFileSync('helm', ['version', '--short'], { stdio: 'pipe' }).length > 0;
  } catch {
    process.stderr.write('manifests/chart is not rendered by Helm: go install helm.sh/helm/v4/cmd/helm@latest\n');
    return false;
  }
})();

type Objects = Readonly<Record<string, KubeObject>>;

const DIGEST = /"(skep-(?:registry-)?config)-[0-9a-z]{10}"/g;

/** By kind, namespace and name; digests are of different kinds, and a chart makes no namespace. */
function byName(objects: readonly KubeObject[]): Objects {
  const plain: KubeObject[] = JSON.parse(JSON.stringify(objects).replaceAll(DIGEST, '"$1"'));
  const entries = plain
    .filter(({ kind }) => kind !== 'Namespace')
    .map((object) => [`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, object] as const);
  expect(new Set(entries.map(([name]) => name)).size).toBe(entries.length);
  return Object.fromEntries(entries);
}

/** Definitions are kept when the release goes; only the chart says so. */
function withoutKeeping(objects: Objects): Objects {
  const copies = structuredClone(objects);
  for (const { kind, metadata } of Object.values(copies)) {
    if (kind !== 'CustomResourceDefinition') continue;
    expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    delete metadata.annotations;
  }
  return copies;
}

function merged(values: JsonObject, over: JsonObject): JsonObject {
  const copy = { ...values };
  for (const [key, value] of Object.entries(over)) {
    const own = copy[key];
    copy[key] = isObject(own) && isObject(value) ? merged(own, value) : value;
  }
  return copy;
}

const initial: JsonObject = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'), { version: '1.1' });
const appVersion: string = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')).appVersion;

function renderedHere(values: JsonObject, namespace: string): Objects {
  const root = {
    Values: merged(initial, values),
    Release: { Namespace: namespace },
    Chart: { AppVersion: appVersion },
  };
  const files = readdirSync(join(CHART, 'templates'), { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => render(readFileSync(join(CHART, 'templates', name), 'utf8'), root));
  return withoutKeeping(byName(documentsIn(texts.join(''))));
}

function helm(values: JsonObject, namespace: string): string {
  const file = join(folder.path, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const args = ['template', 'skep', CHART, '--namespace', namespace, '--values', file];
  return execFileSync('helm', args, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 16 << 20 });
}

interface Variant {
  readonly name: string;
  readonly values: JsonObject;
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  /** What the chart leaves out, as docs/alerts.md tells. */
  readonly without?: readonly string[];
}

const TEAMS = ['team-a', 'team-b'];

const VARIANTS: readonly Variant[] = [
  { name: 'default', values: {}, resources: ['install'] },
  {
    name: 'cronjob-observed',
    values: { crds: { enabled: false }, cronJob: { enabled: true }, observability: { enabled: true } },
    resources: ['install/reconciler', 'install/rights'],
    components: ['install/cronjob', 'observability'],
    without: ['PodMonitor skep/skep-reconciler', 'PrometheusRule skep/skep-reconciler'],
  },
  {
    name: 'namespaced',
    values: { scope: 'namespaced', namespaces: TEAMS },
    resources: ['install/namespaced', ...TEAMS],
  },
  {
    name: 'registry-observed-without-definitions',
    values: { registry: { enabled: true }, observability: { enabled: true }, crds: { enabled: false } },
    resources: ['install/reconciler', 'install/rights', 'install/registry'],
    components: ['observability'],
  },
];

function without(objects: Objects, names: readonly string[] = []): Objects {
  for (const name of names) expect(objects).toHaveProperty([name]);
  return Object.fromEntries(Object.entries(objects).filter(([name]) => !names.includes(name)));
}

function kustomizedHere({ resources, components = [] }: Variant): Objects {
  const isTeam = (name: string) => TEAMS.includes(name);
  const own = kustomized(MANIFESTS, { resources: resources.filter((name) => !isTeam(name)), components });
  const teams = resources
    .filter(isTeam)
    .flatMap((namespace) => kustomized(MANIFESTS, { namespace, resources: ['install/one-namespace'] }));
  return byName([...own, ...teams]);
}

function kustomizedByKubectl({ name, resources, components = [] }: Variant): Objects {
  const path = (each: string) => (TEAMS.includes(each) ? each : `INSTALL/../${each}`);
  const teams = TEAMS.map((each) => [
    `${each}/kustomization.yaml`,
    `namespace: ${each}\nresources: [INSTALL/one-namespace]`,
  ]);
  const text = JSON.stringify({ resources: resources.map(path), components: components.map(path) });
  return byName(rendered(join(folder.path, name), { 'kustomization.yaml': text, ...Object.fromEntries(teams) }));
}

test.each(VARIANTS)('$name: the chart and kustomize make the same', (variant) => {
  const expected = without(kustomizedHere(variant), variant.without);
  expect(Object.keys(expected).length).toBeGreaterThan(5);
  expect(renderedHere(variant.values, 'skep')).toEqual(expected);
  if (hasKubectl) expect(without(kustomizedByKubectl(variant), variant.without)).toEqual(expected);
  if (hasHelm) expect(withoutKeeping(byName(documentsIn(helm(variant.values, 'skep'))))).toEqual(expected);
});

const CONFIG = 'name: default\nsources: [] # {{ .Values }} "<&>"\n';
const RESOURCES = { requests: { cpu: 1, memory: '2Gi' }, limits: { memory: '2Gi' } };
const OTHERS: JsonObject = {
  crds: { enabled: false },
  image: { repository: 'mirror.example.com/skep', tag: '9.9.9', pullPolicy: 'Always' },
  config: CONFIG,
  resources: RESOURCES,
  serviceAccount: { annotations: { 'example.com/role': 'arn:1:{{ x }}' } },
  secrets: { git: 'my-git', http: 'my-http', age: 'my-age', database: 'my-database' },
};

/** What the same is by patches. */
const PATCHED = {
  namespace: 'bees',
  resources: ['INSTALL/reconciler', 'INSTALL/rights'],
  images: [{ name: 'ghcr.io/skep-dev/skep', newName: 'mirror.example.com/skep', newTag: '9.9.9' }],
  configMapGenerator: [{ name: 'skep-config', namespace: 'skep', behavior: 'replace', files: ['skep.yaml'] }],
  patches: [
    {
      target: { kind: 'Deployment' },
      patch: JSON.stringify([
        { op: 'add', path: '/spec/template/spec/containers/0/imagePullPolicy', value: 'Always' },
        { op: 'replace', path: '/spec/template/spec/containers/0/resources', value: RESOURCES },
        ...['my-git', 'my-http', 'my-age', 'my-database'].map((value, index) => ({
          op: 'replace',
          path: `/spec/template/spec/volumes/${index + 1}/secret/secretName`,
          value,
        })),
      ]),
    },
    {
      target: { kind: 'ServiceAccount' },
      patch: JSON.stringify([
        { op: 'add', path: '/metadata/annotations', value: { 'example.com/role': 'arn:1:{{ x }}' } },
      ]),
    },
  ],
};

test.skipIf(!hasKubectl)('values in another namespace: the chart and kustomize make the same', () => {
  const files = { 'kustomization.yaml': JSON.stringify(PATCHED), 'skep.yaml': CONFIG };
  const expected = byName(rendered(join(folder.path, 'values'), files));
  expect(renderedHere(OTHERS, 'bees')).toEqual(expected);
  if (hasHelm) expect(withoutKeeping(byName(documentsIn(helm(OTHERS, 'bees'))))).toEqual(expected);
});

/** Paths of what is neither a map nor empty. */
function leavesOf(values: JsonObject, prefix: readonly string[] = []): readonly (readonly string[])[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const path = [...prefix, key];
    return isObject(value) && Object.keys(value).length > 0 ? leavesOf(value, path) : [path];
  });
}

/** What variants switch on and off. */
const SWITCHES = ['crds.enabled', 'cronJob.enabled', 'registry.enabled', 'observability.enabled', 'scope'];

test('every other value makes a difference', () => {
  const base: JsonObject = { crds: { enabled: false }, registry: { enabled: true } };
  const both = [false, true].map((enabled) => merged(base, { cronJob: { enabled } }));
  const made = (over: JsonObject) => canonicalJson(both.map((values) => renderedHere(merged(values, over), 'skep')));
  const before = made({});
  const idle = leavesOf(initial)
    .filter((path) => !SWITCHES.includes(path.join('.')))
    .filter((path) => {
      const value = { namespaces: ['x'], annotations: { x: 'y' } }[path.at(-1) ?? ''] ?? 'other';
      const over: unknown = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
      return made(over as JsonObject) === before;
    });
  expect(idle).toEqual([]);
});

test('a value that is not there, or of another type, is refused', () => {
  const accepts = new Ajv({ strict: false }).compile(
    JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')),
  );
  const accepted: JsonObject[] = [{}, OTHERS, ...VARIANTS.map(({ values }) => values), { global: { x: 1 } }];
  const refused: JsonObject[] = [
    { sccope: 'cluster' },
    { image: { tagg: '1' } },
    { scope: 'namespace' },
    { namespaces: ['team-a'] },
    { scope: 'namespaced', namespaces: ['Team'] },
    { cronJob: { enabled: 'true' } },
    { config: { name: 'default' } },
    { resources: { limit: {} } },
  ];
  expect(accepted.filter((values) => !accepts(merged(initial, values)))).toEqual([]);
  expect(refused.filter((values) => accepts(merged(initial, values)))).toEqual([]);
  if (hasHelm) for (const values of refused.slice(0, 4)) expect(() => helm(values, 'skep')).toThrow(/schema/);
});

test('what is not known of kustomize is refused, not passed over', () => {
  const kustomizations: object[] = [
    { namePrefix: 'x-' },
    { labels: [{ pairs: { a: 'b' }, includeSelectors: true }] },
    { patches: [{ target: { kind: 'Service', name: 'skep' }, patch: '[]' }] },
    { configMapGenerator: [{ name: 'x', literals: ['a=b'], files: [] }] },
    { resources: ['install/reconciler'], patches: [{ patch: '{kind: Service, metadata: {name: x}}' }] },
  ];
  for (const each of kustomizations) expect(() => kustomized(MANIFESTS, each)).toThrow(/cannot be read|nothing that/);
});

test('what is committed is what is generated', () => {
  for (const [name, text] of chartFiles()) expect(readFileSync(join(CHART, name), 'utf8'), name).toBe(text);
  const committed = readdirSync(CHART, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(committed).toHaveLength(chartFiles().size);
});
