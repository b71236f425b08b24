// Generated kustomizations: our objects are those of kustomize, and a fault in a base or patch is reported where it is written.
// SKEP_SEED and SKEP_COUNT choose others, and more.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { runValidation } from '#cli/offline/validation.ts';
import { openFolderTree } from '#hosts/reconciler/folder-tree.ts';
import { kustomizeHere } from '#hosts/reconciler/kustomize-here.ts';
import { buildPlanned, planKustomizations } from '#reconciler/run/read/kustomize/inputs.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { hasKustomize, kustomized } from '../harness/kustomize.ts';
import { type Random, seeded } from '../harness/random.ts';

const SEED = Number(process.env.SKEP_SEED ?? 20261129);
const COUNT = Number(process.env.SKEP_COUNT ?? 12);
/** No value of any field. */
const WRONG = 'wrong-on-purpose';

const folder = temporaryFolder();
afterAll(() => folder.remove());

type Files = Record<string, string>;

/** `fault`: the path of the file that gets a wrong value; any file of `faulty` can. */
interface Case {
  readonly files: Files;
  readonly faulty: readonly string[];
}

function serverOf(random: Random, name: string, fault: boolean): object {
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPServer',
    metadata: { name, labels: random.chance(0.5) ? { tier: random.pick(['one', 'two']) } : undefined },
    spec: {
      image: `images.example.com/${name}:1`,
      transport: fault ? WRONG : 'stdio',
      env: [{ name: 'MODE', value: random.pick(['slow', 'fast']) }],
    },
  };
}

function mapOf(random: Random, name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { a: `${random.integer(100)}`, b: 'x\ny\n' },
  };
}

function documents(objects: readonly object[]): string {
  return objects.map((object) => stringify(object)).join('---\n');
}

/** The same seed makes the same case, whatever is at fault. */
function makeCase(seed: number, fault: string | undefined): Case {
  const random = seeded(seed);
  const files: Files = {};
  const names = ['clock', 'wiki', 'mail'].slice(0, 1 + random.integer(3));
  for (const name of names) {
    const path = `base/${name}.yaml`;
    const server = serverOf(random, name, fault === path);
    files[path] = documents(
      random.chance(0.5) ? [mapOf(random, `${name}-map`), server] : [server, mapOf(random, `${name}-map`)],
    );
  }
  files['base/kustomization.yaml'] = stringify({ resources: names.map((name) => `${name}.yaml`) });
  const target = random.pick(names);
  const patched = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', metadata: { name: target } };
  const overlay: Record<string, unknown> = { resources: ['../base'], namespace: 'tools' };
  const patches: object[] = [];
  const faulty = names.map((name) => `base/${name}.yaml`);
  if (random.chance(0.6)) {
    files['prod/merge.yaml'] = stringify({
      ...patched,
      spec: { proxyPort: fault === 'prod/merge.yaml' ? WRONG : 9000 + random.integer(9) },
    });
    patches.push({ path: 'merge.yaml' });
    faulty.push('prod/merge.yaml');
  }
  if (random.chance(0.6)) {
    const value = { limits: { cpu: fault === 'prod/operations.yaml' ? [WRONG] : '100m' } };
    files['prod/operations.yaml'] = stringify([{ op: 'add', path: '/spec/resources', value }]);
    patches.push({
      path: 'operations.yaml',
      target: { kind: 'MCPServer', name: random.chance(0.5) ? target : undefined },
    });
    faulty.push('prod/operations.yaml');
  }
  if (random.chance(0.3))
    patches.push({ patch: stringify({ ...patched, metadata: { name: target, annotations: { a: 'b' } } }) });
  if (patches.length > 0) overlay.patches = patches;
  if (random.chance(0.3)) overlay.namePrefix = 'team-';
  if (random.chance(0.3)) overlay.nameSuffix = '-prod';
  if (random.chance(0.3)) overlay.labels = [{ pairs: { part: 'of' }, includeSelectors: random.chance(0.5) }];
  if (random.chance(0.3)) overlay.commonAnnotations = { who: 'team' };
  if (random.chance(0.3)) overlay.images = [{ name: `images.example.com/${target}`, newTag: '7.8' }];
  if (random.chance(0.3)) overlay.configMapGenerator = [{ name: 'made', literals: ['k=v'], files: ['text.txt'] }];
  if (random.chance(0.3)) overlay.replacements = [replacement(names[0] ?? '')];
  if (random.chance(0.3)) {
    overlay.components = ['../component'];
    files['component/kustomization.yaml'] = stringify({
      apiVersion: 'kustomize.config.k8s.io/v1alpha1',
      kind: 'Component',
      patches: [{ target: { kind: 'ConfigMap' }, patch: '- {op: add, path: /data/c, value: d}' }],
    });
  }
  files['prod/text.txt'] = 'some text\n';
  files['prod/kustomization.yaml'] = stringify(overlay);
  return { files, faulty };
}

function replacement(name: string): object {
  return {
    source: { kind: 'ConfigMap', name: `${name}-map`, fieldPath: 'data.a' },
    targets: [{ select: { kind: 'MCPServer', name }, fieldPaths: ['spec.env.0.value'] }],
  };
}

function write(name: string, files: Files): string {
  const place = join(folder.path, name);
  // The root of a repository.
  mkdirSync(join(place, '.git'), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

const seeds = Array.from({ length: COUNT }, (_, index) => SEED + index);

test.skipIf(!hasKustomize)(
  `objects of ${COUNT} kustomizations are what kustomize makes of them, seed ${SEED}`,
  async () => {
    for (const seed of seeds) {
      const place = write(`sound-${seed}`, makeCase(seed, undefined).files);
      const { tree } = openFolderTree(join(place, 'prod'), place);
      const plan = await planKustomizations({ tree, folder: 'prod', isRead: () => true });
      const { files, problems } = await buildPlanned(plan, kustomizeHere(folder.path), new Map());
      const built = files.flatMap(({ text }) => readDocuments(text, '').map(({ value }) => value));
      const expected = readDocuments(kustomized(join(place, 'prod')), '').map(({ value }) => value);
      expect([seed, problems, built]).toEqual([seed, [], expected]);
    }
  },
);

test.skipIf(!hasKustomize)(`faults in ${COUNT} kustomizations are reported at their lines, seed ${SEED}`, async () => {
  const missed: string[] = [];
  for (const seed of seeds) {
    const fault = seeded(seed).pick(makeCase(seed, undefined).faulty);
    const { files } = makeCase(seed, fault);
    const place = write(`faulty-${seed}`, files);
    const line = 1 + (files[fault] ?? '').split('\n').findIndex((each) => each.includes(WRONG));
    const folders = [{ path: join(place, 'prod'), ignore: [] }];
    const { problems } = await runValidation({ folders, schemas: [], apiGroup: 'toolhive.stacklok.dev' }, undefined);
    const places = problems
      .filter(({ severity }) => severity === 'error')
      .map((each) => `${each.place?.file}:${each.place?.line}`);
    const expected = `${join(place, fault)}:${line}`;
    if (!places.includes(expected)) missed.push(`${seed}: ${expected}, not ${places}`);
  }
  expect(missed.length / COUNT, missed.join('\n')).toBeLessThanOrEqual(0.05);
});
