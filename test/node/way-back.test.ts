// A fleet under ToolHive's definitions moves to skep and back on a real node (docs/migrating.md): all its pods are ready, also
// after a change of each kind, and continue to run while the definitions are replaced. Each fleet's tests are one story.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import { newGroup } from '../cluster/definitions.ts';
import { OTHERS_FLEETS, othersObjects, readOthersDefinitions, versionsOf } from '../cluster/others-fleet.ts';
import { validateWith } from '../cluster/validated-with.ts';
import { startDatabase } from './database.ts';
import { connect, echo, type Fleet, leave, openFleet, restricted, urlOf } from './fleet.ts';
import { CATALOGUE, OPEN_SERVER, POD_CHANGES, withPods } from './others-pods.ts';
import { blockWith, pageOf } from './page-steps.ts';
import { KUBECONFIG, kubectl } from './place.ts';

const COUNT = 60;
/** Maximum number of times that the loop of the page is run. */
const LOOPS = 3;
const RELEASES = ['v0.44', 'v0.15'];
/** Number of pods of a resource. Next to them runs the pod of the database. */
const PODS_OF: Readonly<Record<string, number>> = {
  EmbeddingServer: 1,
  MCPRegistry: 1,
  MCPRemoteProxy: 1,
  MCPServer: 2,
  VirtualMCPServer: 1,
};

describe.each(OTHERS_FLEETS.filter(({ name }) => RELEASES.includes(name)))('a fleet of $name', (others) => {
  const group = newGroup('node-back');
  const namespace = `back-${others.name.replace('.', '-')}`;
  const theirs = readOthersDefinitions(others, group);
  const kinds = new Map(theirs.map(versionsOf).map((each) => [each.kind, each]));
  const folder = mkdtempSync(join(tmpdir(), 'skep-node-back-'));
  const definitions = theirs.map((each) => stringify(each)).join('---\n');
  let objects = othersObjects(others, theirs, { group, namespace }, COUNT).map(withPods);
  let fleet: Fleet;

  beforeAll(async () => {
    if (theirs.length === 0) return;
    apply(restricted(namespace));
    fleet = openFleet(namespace, 600, { apiGroup: group, catalogue: startDatabase(namespace) });
    apply({ ...object('v1', 'Secret', 'keys'), stringData: { token: 'value' } });
    // The default format of configYAML is the format of the official registry.
    const servers = 'configYAML' in (others.specs.MCPRegistry ?? {}) ? [] : {};
    const catalogue = JSON.stringify({ version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers });
    apply({ ...object('v1', 'ConfigMap', CATALOGUE.name), data: { [CATALOGUE.key]: catalogue } });
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    // Pods of two fleets request more processor time than the node has.
    if (theirs.length > 0) kubectl(['delete', 'namespace', namespace, '--timeout=180s']);
  });

  function object(apiVersion: string, kind: string, name: string): KubeObject {
    return { apiVersion, kind, metadata: { name, namespace } };
  }

  /** All objects of a kind in a version. */
  function live(kind: string, version: string): readonly JsonObject[] {
    const printed = kubectl(['-n', namespace, 'get', `${kinds.get(kind)?.plural}.${version}.${group}`, '-o=json']);
    return objectsIn((JSON.parse(printed ?? '{}') as JsonObject).items ?? []);
  }

  function specsIn(version: string): ReadonlyMap<string, unknown> {
    const served = [...kinds.values()].filter((each) => each.served.includes(version));
    const found = served.flatMap(({ kind }) => live(kind, version));
    return new Map(found.map((each) => [`${each.kind} ${nameOf(each)}`, each.spec]));
  }

  function storedVersions(): Readonly<Record<string, string>> {
    const path = '-o=jsonpath={range .items[*]}{.spec.group} {.spec.names.kind} {.status.storedVersions}{"\\n"}{end}';
    const lines = (kubectl(['get', 'crds', path]) ?? '').split('\n').filter((line) => line.startsWith(`${group} `));
    return Object.fromEntries(lines.map((line) => [line.split(' ')[1] ?? '', line.split(' ')[2] ?? '']));
  }

  function pods(): readonly JsonObject[] {
    return objectsIn(
      (JSON.parse(kubectl(['-n', namespace, 'get', 'pods', '-o=json']) ?? '{}') as JsonObject).items ?? [],
    );
  }

  /** Names of the pods that are not ready, or are about to end. */
  function unreadyPods(): readonly string[] {
    return pods()
      .filter((pod) => !isTrue(pod.status, 'Ready') || 'deletionTimestamp' in (pod.metadata as JsonObject))
      .map(nameOf);
  }

  function unreadyObjects(version: string): readonly string[] {
    return [...kinds.keys()]
      .flatMap((kind) => live(kind, version))
      .filter(({ status }) => !isGood(status))
      .map((each) => `${each.kind} ${nameOf(each)}: ${JSON.stringify(each.status)}`);
  }

  async function expectReady(): Promise<void> {
    // A virtual server has to check its members once more before a run can report it as ready.
    await expect.poll(() => fleet.run(['sync']).then(() => unreadyObjects('v1alpha1')), { interval: 5000 }).toEqual([]);
    await expect.poll(unreadyPods).toEqual([]);
    const client = await connect(urlOf(namespace, OPEN_SERVER));
    await echo(client, others.name);
    await leave(client);
  }

  test(`has ${COUNT} objects`, ({ skip }) => {
    if (theirs.length === 0) skip(`${others.folder} does not exist`);
    expect(kubectl(['apply', '--server-side', '-f', '-'], definitions)).toBeDefined();
    const established = [...kinds.values()].map(({ plural }) => `crd/${plural}.${group}`);
    expect(kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...established])).toBeDefined();
    for (const each of objects) apply({ ...each, metadata: { ...each.metadata, finalizers: [`${group}/finalizer`] } });
    expect(objects.length).toBeGreaterThanOrEqual(COUNT);
  });

  test('is taken over, and each resource and each pod is ready', async ({ skip }) => {
    if (theirs.length === 0) skip();
    const before = storedVersions();
    const ours = await fleet.run(['crds', '--api-group', group]);
    expect(kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], ours)).toBeDefined();
    for (const [kind, versions] of Object.entries(before))
      expect(JSON.parse(storedVersions()[kind] ?? '[]'), kind).toEqual(expect.arrayContaining(JSON.parse(versions)));
    fleet.commit(objects);
    await fleet.run(['adopt', '--yes']);
    await expectReady();
    expect(pods().length).toBe(1 + objects.reduce((sum, { kind }) => sum + (PODS_OF[kind] ?? 0), 0));
  });

  test('is ready again after a change of each kind', async ({ skip }) => {
    if (theirs.length === 0) skip();
    objects = objects.map((each) => {
      if (!each.metadata.name.endsWith('-1')) return each;
      return {
        ...each,
        spec: { ...(each.spec as JsonObject), ...(POD_CHANGES[each.kind] ?? others.changes[each.kind]) },
      };
    });
    await fleet.sync(objects);
    await expectReady();
    const specs = specsIn('v1alpha1');
    for (const { kind, metadata, spec } of objects)
      expect(specs.get(`${kind} ${metadata.name}`), `${kind} ${metadata.name}`).toMatchObject(spec as JsonObject);
  });

  test('goes back: each object has its content, and no pod was restarted', async ({ skip }) => {
    if (theirs.length === 0) skip();
    const fleetText = objects.map((each) => stringify(each)).join('---\n');
    expect(validateWith(folder, definitions, fleetText)).toEqual({ code: 0, errors: [] });
    const before = pods().map(identityOf).toSorted();
    if (!others.versions.includes('v1beta1')) moveStoredVersions();
    const back = ['apply', '--server-side', '--force-conflicts', '-f', '-'];
    expect(kubectl(back, definitions)).toBeDefined();
    for (const version of others.versions) {
      await expect.poll(() => specsIn(version).size).toBe(specCount(version));
      const specs = specsIn(version);
      for (const { kind, metadata, spec } of objects)
        if (specs.has(`${kind} ${metadata.name}`))
          expect(specs.get(`${kind} ${metadata.name}`), `${kind} ${metadata.name}`).toMatchObject(spec as JsonObject);
    }
    for (const { kind, served } of kinds.values())
      expect(served, kind).toEqual(expect.arrayContaining(JSON.parse(storedVersions()[kind] ?? '[]')));
    expect(pods().map(identityOf).toSorted()).toEqual(before);
    expect(unreadyPods()).toEqual([]);
  });

  function specCount(version: string): number {
    return objects.filter(({ kind }) => kinds.get(kind)?.served.includes(version)).length;
  }

  /** Runs the commands of the page for releases without v1beta1, in the API group of this fleet. */
  function moveStoredVersions(): void {
    const page = pageOf('docs/migrating.md');
    const skep = `skep() { ${process.execPath} ${SKEP} "$@" --api-group ${group}; }`;
    runShell(`${skep}\n${blockWith(page, 'skep crds --stored')}`);
    for (const kind of kinds.keys()) expect(storedVersions()[kind], kind).toContain('v1alpha1');
    // The page asks to run the loop again if a command of it failed.
    const loop = blockWith(page, 'for name in $(kubectl get crd').replace(GROUP_PATTERN, group.replaceAll('.', '[.]'));
    const hasBeta = (): boolean => Object.values(storedVersions()).some((versions) => versions !== '["v1alpha1"]');
    let printed = '';
    for (let left = LOOPS; left > 0 && hasBeta(); left -= 1) printed = runShell(loop);
    expect(hasBeta(), printed).toBe(false);
  }
});

const GROUP_PATTERN = 'toolhive[.]stacklok[.]dev';
const SKEP = fileURLToPath(new URL('../../src/skep.ts', import.meta.url));

/** Returns what the commands printed. */
function runShell(text: string): string {
  const script = `exec 2>&1\n${text}`;
  return execFileSync('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, KUBECONFIG },
    encoding: 'utf8',
  });
}

function apply(object: object): void {
  expect(kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(object)), JSON.stringify(object)).toBeDefined();
}

function nameOf({ metadata }: JsonObject): string {
  return String((metadata as JsonObject).name);
}

/** Name and UID of a pod, and how often its containers were started again. */
function identityOf({ metadata, status }: JsonObject): string {
  const { name, uid } = metadata as JsonObject;
  const containers = objectsIn((status as JsonObject).containerStatuses ?? []);
  return `${name} ${uid} ${containers.map(({ restartCount }) => restartCount).join(' ')}`;
}

function isTrue(status: unknown, type: string): boolean | undefined {
  const { conditions } = isObject(status) ? status : {};
  const condition = Array.isArray(conditions)
    ? conditions.filter(isObject).find((each) => each.type === type)
    : undefined;
  return condition === undefined ? undefined : condition.status === 'True';
}

function isGood(status: unknown): boolean {
  const { phase } = isObject(status) ? status : {};
  if (phase === undefined) return isTrue(status, 'Valid') ?? true;
  return ['Ready', 'Running', 'Valid'].includes(String(phase));
}
