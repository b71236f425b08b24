// Repositories that were laid out for kustomize and Flux are validated, planned and synced as they are.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runValidation } from '#cli/offline/validation.ts';
import { findManifestFolders } from '#hosts/config/repository.ts';
import { openFolderTree } from '#hosts/reconciler/folder-tree.ts';
import { kustomizeHere } from '#hosts/reconciler/kustomize-here.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { buildPlanned, planKustomizations } from '#reconciler/run/read/kustomize/inputs.ts';
import { formatId, formatProblem } from '#std/problem.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { hasKustomize, kustomized } from '../harness/kustomize.ts';
import { startWorld, type World } from '../harness/world.ts';

const LAYOUTS = fileURLToPath(new URL('.', import.meta.url));

interface Layout {
  readonly name: string;
  /** Declared objects that a sync creates. */
  readonly declares: readonly string[];
  readonly problems?: readonly string[];
}

const ALL: readonly Layout[] = [
  { name: 'base-and-overlays', declares: ['Namespace/tools', 'tools/MCPGroup/tools', 'tools/MCPServer/clock'] },
  {
    name: 'generators',
    declares: [
      'Namespace/wiki',
      'default/ConfigMap/feeds-NNN',
      'default/ConfigMap/news-settings',
      'default/ConfigMap/plain',
      'wiki/ConfigMap/team-pages-NNN',
      'wiki/MCPServer/team-wiki',
      'wiki/Secret/team-empty',
    ],
    problems: ['generators/fleet/wiki/kustomization.yaml:13:5: warning secret-plaintext'],
  },
  {
    name: 'flux-variables',
    declares: ['Namespace/apps', 'apps/ConfigMap/weather-script-NNN', 'apps/MCPServer/weather-prod'],
  },
  { name: 'no-namespace', declares: ['Namespace/notes', 'notes/MCPGroup/office', 'notes/MCPServer/notes'] },
  { name: 'component-and-patches', declares: ['Namespace/mail', 'mail/MCPServer/mail-prod'] },
];

let world: World;
let instance: InstanceFolder;

beforeAll(async () => {
  world = await startWorld();
  instance = instanceFolder(world);
});

afterAll(async () => {
  instance.remove();
  await world.close();
});

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
}

/** Hashes of generators depend on contents alone, and are compared below. */
function withoutHash(text: string): string {
  return text.replace(/-[a-z0-9]{10}$/, '-NNN');
}

test.skipIf(!hasKustomize).each(ALL)(
  '$name is valid, planned and synced',
  async ({ name, declares, problems = [] }) => {
    const folder = join(LAYOUTS, name);
    const folders = await findManifestFolders(folder, {});
    const validated = await runValidation({ folders, schemas: [], apiGroup: 'toolhive.stacklok.dev' }, undefined);
    const shown = validated.problems.map(({ message: _message, resource: _resource, ...rest }) => {
      return formatProblem({ ...rest, message: '' })
        .replace(`${LAYOUTS}`, '')
        .replace(/: $/, '');
    });
    expect([validated.summary.invalid, shown]).toEqual([0, problems]);
    expect(validated.summary.resources).toBe(declares.length);

    const files = filesOf(folder);
    world.fleet.commit(
      Object.fromEntries(files.map((path) => [`${name}/${path}`, readFileSync(join(folder, path), 'utf8')])),
    );
    const { sources } = parse(readFileSync(join(folder, 'skep.yaml'), 'utf8'));
    const [source] = sources;
    const path = join(name, source.path);
    instance.configure({
      name,
      sources: [{ ...source, repository: `${world.git.url}/fleet.git`, branch: 'main', path }],
      apply: { waitSeconds: 0 },
    });
    const planned = await instance.run('plan');
    expect(planned.stderr).not.toContain('error');
    const synced = await instance.run('sync', '-o', 'json');
    const { outcomes, problems: told } = JSON.parse(synced.stdout);
    const created = outcomes
      .filter(({ action }: { action: string }) => action === 'created')
      .map(({ resource }: { resource: KubeObject['metadata'] & never }) => withoutHash(formatId(resource)));
    expect([synced.code, told]).toEqual([0, []]);
    expect(created).toEqual(expect.arrayContaining([...declares]));
  },
);

test.skipIf(!hasKustomize).each(ALL.filter(({ name }) => name !== 'no-namespace'))(
  'objects of $name are what kustomize makes of it',
  async ({ name }) => {
    const folder = join(LAYOUTS, name);
    const [{ path } = { path: '' }] = await findManifestFolders(folder, {});
    const { tree, folder: inside } = openFolderTree(path, folder);
    const place = temporaryFolder();
    const builder = kustomizeHere(place.path);
    const plan = await planKustomizations({ tree, folder: inside, isRead: () => true });
    const { files, problems } = await buildPlanned(plan, builder, new Map());
    expect(problems).toEqual([]);
    const root = join(path, relative(inside, ''));
    const expected = plan.inputs
      .flatMap((walk) => readDocuments(kustomized(join(root, walk.folder)), ''))
      .map(({ value }) => value);
    const built = files.flatMap(({ text }) => readDocuments(text, '').map(({ value }) => value));
    expect(built).toEqual(expected);
    expect(new Set(built.map((value) => keyOf(idOf(value)))).size).toBe(built.length);
    expect(readdirSync(place.path)).toEqual([]);
    place.remove();
  },
);

function idOf(value: unknown) {
  const { apiVersion, kind, metadata } = value as KubeObject;
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
}

test.skipIf(!hasKustomize)(
  'a process that stays reads what it builds in a thread, with values and places',
  async () => {
    const maps = Array.from(
      { length: 300 },
      (_, index) =>
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map-${index}}\ndata: {cluster: "\${CLUSTER} ${'x'.repeat(60)}"}\n`,
    );
    const fault = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fault\ndata:\n  k: \${NOBODY}\n`;
    world.fleet.commit({
      'large/kustomization.yaml': 'resources: [../large-base]\n',
      'large-base/kustomization.yaml': 'resources: [maps.yaml, fault.yaml]\n',
      'large-base/maps.yaml': maps.join('---\n'),
      'large-base/fault.yaml': fault,
    });
    const source = { name: 'fleet', repository: `${world.git.url}/fleet.git`, branch: 'main', path: 'large' };
    const substitute = { values: { CLUSTER: 'prod' } };
    instance.configure({
      name: 'large',
      sources: [{ ...source, namespace: 'default', substitute }],
      schedule: '* * * * * *',
      jitterSeconds: 0,
      http: { address: '127.0.0.1:0' },
      apply: { waitSeconds: 0 },
    });
    const running = instance.start('run');
    await running.printed('ConfigMap/map-299 created');
    const output = await running.printed('variable-unknown');
    running.kill('SIGTERM');
    await running.finished;
    expect(output.split('\n').find((line) => line.includes('variable-unknown'))).toContain('large-base/fault.yaml');
    const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'map-299' };
    expect((await world.client.get(id))?.data).toEqual({ cluster: `prod ${'x'.repeat(60)}` });
  },
);
