// The way in from the existing platform and back to it (docs/migrating.md): its definitions and objects exist, skep takes them
// over, keeps them and changes one of each kind, and then the same definitions are installed again. No stored version is
// lost, and each object is accepted and has its content. The tests of a fleet are one story, told in order.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import { type Api, connect } from '../recordings/api.ts';
import { newGroup } from './definitions.ts';
import { type Fleet, openFleetIn } from './fleet.ts';
import { OTHERS_FLEETS, othersObjects, readOthersDefinitions, versionsOf } from './others-fleet.ts';
import { allowNoPods, eventually, openServer, type SuiteServer } from './server.ts';
import { validateWith } from './validated-with.ts';

const COUNT = 60;
const FINALIZER = 'toolhive.stacklok.dev/finalizer';

describe.each(OTHERS_FLEETS)('a fleet of $name', (others) => {
  const group = newGroup('back');
  const theirs = readOthersDefinitions(others, group);
  const kinds = new Map(theirs.map(versionsOf).map((each) => [each.kind, each]));
  const ours = KINDS.filter(({ kind }) => kinds.has(kind));
  const folder = mkdtempSync(join(tmpdir(), 'skep-back-'));
  let server: SuiteServer;
  let admin: ConnectedCluster;
  let api: Api;
  let fleet: Fleet;
  let namespace: string;
  let objects: readonly KubeObject[];

  beforeAll(async () => {
    if (theirs.length === 0) return;
    server = await openServer(undefined, { workloadsReadyAfterMs: 0 });
    admin = await server.client('kubectl');
    api = await connect(server.kubeconfig);
    namespace = await server.namespace('back');
    await allowNoPods(admin, namespace);
    objects = othersObjects(others, theirs, { group, namespace }, COUNT);
  });

  afterAll(async () => {
    await fleet?.close();
    await api?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function define(definition: KubeObject): Promise<void> {
    const { apiVersion, kind, metadata } = definition;
    server.later({ apiVersion, kind, name: metadata.name });
    await admin.apply(definition, { force: true });
    const { stored } = versionsOf(definition);
    await eventually(
      () => storedVersions(metadata.name),
      (found) => found.includes(stored),
    );
    admin.refresh();
  }

  async function storedVersions(name: string): Promise<readonly string[]> {
    const definition = await admin.get({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name,
    });
    const status = isObject(definition?.status) ? definition.status : {};
    const isServed = JSON.stringify(status.conditions ?? []).includes('"Established"');
    return isServed && Array.isArray(status.storedVersions) ? status.storedVersions.map(String) : [];
  }

  async function allStoredVersions(): Promise<Readonly<Record<string, readonly string[]>>> {
    const entries = [...kinds.values()].map(async ({ kind, plural }) => [
      kind,
      await storedVersions(`${plural}.${group}`),
    ]);
    return Object.fromEntries(await Promise.all(entries));
  }

  async function live({ kind, metadata }: KubeObject, version: string): Promise<KubeObject> {
    const { name } = metadata;
    const id = { apiVersion: `${group}/${version}`, kind, namespace, name };
    // A busy server serves a version before its discovery lists it.
    const found = await eventually(
      () => admin.get(id).catch(rediscover),
      (answer) => answer !== 'unknown',
    );
    if (found === undefined || found === 'unknown') throw new Error(`${kind} ${name} does not exist`);
    return found;
  }

  function rediscover(error: unknown): 'unknown' {
    if (!(error instanceof Failure) || error.code !== 'cluster-unknown-kind') throw error;
    admin.refresh();
    return 'unknown';
  }

  function commit(): void {
    const manifests = objects.map(({ metadata: { name }, ...rest }) => ({ ...rest, metadata: { name, namespace } }));
    fleet.git.commit({ 'fleet.yaml': manifests.map((each) => stringify(each)).join('---\n') });
  }

  async function run(): Promise<void> {
    const result = await fleet.run();
    expect(result.problems.filter(({ severity }) => severity === 'error').map(formatProblem)).toEqual([]);
    expect(result.failures.map(({ message }) => message)).toEqual([]);
    expect(result.outcomes.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
  }

  async function call(method: 'PUT' | 'PATCH', path: string, body: object, query = {}): Promise<void> {
    const contentType = method === 'PUT' ? 'application/json' : 'application/merge-patch+json';
    const answer = await api.call({ method, path, query, contentType, body: JSON.stringify(body) });
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(200);
  }

  /** `kubectl replace`, for every object of the kinds. */
  async function rewrite(version: string, query: Readonly<Record<string, string>>): Promise<void> {
    for (const object of objects) {
      const path = `/apis/${group}/${version}/namespaces/${namespace}/${kinds.get(object.kind)?.plural}`;
      await call('PUT', `${path}/${object.metadata.name}`, await live(object, version), query);
    }
  }

  test(`has ${COUNT} objects in the versions of its definitions`, async ({ skip }) => {
    if (theirs.length === 0) skip(`${others.folder} does not exist`);
    for (const definition of theirs) await define(definition);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace } };
    await admin.apply({ ...secret, stringData: { token: 'value' } } as KubeObject, { force: true });
    for (const object of objects) {
      const metadata = { ...object.metadata, finalizers: [FINALIZER.replace('toolhive.stacklok.dev', group)] };
      await eventually(
        () => {
          admin.refresh();
          return admin.apply({ ...object, metadata }, { force: true }).then(() => '', String);
        },
        (problem) => problem === '',
      );
    }
    expect(objects.length).toBeGreaterThanOrEqual(COUNT);
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set(Object.keys(others.specs)));
  });

  test('is taken over, and no stored version is lost', async ({ skip }) => {
    if (theirs.length === 0) skip();
    const before = await allStoredVersions();
    for (const kind of ours) await define(crd(kind, group));
    const after = await allStoredVersions();
    for (const [kind, versions] of Object.entries(before))
      expect(after[kind], kind).toEqual(expect.arrayContaining([...versions]));
    fleet = await openFleetIn(server, group, 'admin');
    commit();
    const { failures, problems, refused } = await fleet.adopt();
    expect([...failures, ...refused, ...problems.filter(({ severity }) => severity === 'error')]).toEqual([]);
    await run();
    for (const object of objects) expect((await live(object, 'v1alpha1')).metadata.finalizers).toBeUndefined();
  });

  test('is ready', async ({ skip }) => {
    if (theirs.length === 0) skip();
    await run();
    const bad = [];
    for (const object of objects) {
      const { status } = await live(object, 'v1beta1');
      if (!isGood(status, server.isReal)) bad.push(`${object.kind} ${object.metadata.name}: ${JSON.stringify(status)}`);
    }
    expect(bad).toEqual([]);
  });

  test('has one changed object of each kind', async ({ skip }) => {
    if (theirs.length === 0) skip();
    objects = objects.map((object) => {
      const isFirst = object.metadata.name.endsWith('-1');
      return isFirst ? { ...object, spec: { ...(object.spec as JsonObject), ...others.changes[object.kind] } } : object;
    });
    commit();
    await run();
    for (const object of objects) expect((await live(object, 'v1beta1')).spec).toMatchObject(object.spec as JsonObject);
  });

  test('passes the check of its manifests against the definitions that are to come', ({ skip }) => {
    if (theirs.length === 0) skip();
    const definitions = theirs.map((each) => stringify(each)).join('---\n');
    const fleetText = objects.map((each) => stringify(each)).join('---\n');
    expect(validateWith(folder, definitions, fleetText)).toEqual({ code: 0, errors: [] });
    const open = `apiVersion: ${group}/${others.versions.at(-1)}\nkind: MCPServer\nmetadata: {name: open, namespace: ${namespace}}\nspec: {image: "example.com/open:1", oidcConfigs: {}}\n`;
    expect(validateWith(folder, definitions, open)).toMatchObject({ code: 3 });
  });

  test('goes back: each object is accepted and has its content', async ({ skip }) => {
    if (theirs.length === 0) skip();
    const before = await allStoredVersions();
    const left = ours.filter(({ kind }) => before[kind]?.some((version) => !kinds.get(kind)?.served.includes(version)));
    // The page asks for the move of stored objects only if the release has no v1beta1.
    if (others.versions.includes('v1beta1')) expect(left.map(({ kind }) => kind)).toEqual([]);
    if (left.length > 0) {
      for (const kind of left) await define(crd(kind, group, 'v1alpha1'));
      await rewrite('v1alpha1', {});
      for (const { kind, plural } of left) {
        const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}/status`;
        await call('PATCH', path, { status: { storedVersions: ['v1alpha1'] } });
        expect(await storedVersions(`${plural}.${group}`), kind).toEqual(['v1alpha1']);
      }
    }
    for (const definition of theirs) await define(definition);
    const after = await allStoredVersions();
    for (const { kind, served, stored } of kinds.values()) {
      expect(served, kind).toEqual(expect.arrayContaining([...(after[kind] ?? [])]));
      expect(after[kind], kind).toContain(stored);
    }
    if (left.length === 0) expect(after).toEqual(before);
    for (const object of objects) {
      for (const version of kinds.get(object.kind)?.served ?? []) {
        expect(
          (await live(object, version)).spec,
          `${object.kind} ${object.metadata.name} in ${version}`,
        ).toMatchObject(object.spec as JsonObject);
      }
    }
    // A real server prunes the objects that it reads, so that no field is left that these definitions do not have.
    await rewrite('v1alpha1', server.isReal ? { fieldValidation: 'Strict' } : {});
  });

  test('runs under its operator again: a finalizer and a status can be written', async ({ skip }) => {
    if (theirs.length === 0) skip();
    for (const object of objects) {
      const path = `/apis/${group}/v1alpha1/namespaces/${namespace}/${kinds.get(object.kind)?.plural}/${object.metadata.name}`;
      await call('PATCH', path, { metadata: { finalizers: [`${group}/finalizer`] } });
      await call('PATCH', `${path}/status`, { status: { conditions: [] } });
      await call('PATCH', path, { metadata: { finalizers: null } });
      expect((await live(object, 'v1alpha1')).spec).toMatchObject(object.spec as JsonObject);
    }
  });
});

/** Without a kubelet no pod becomes ready; but none has failed either. */
function isGood(status: unknown, isReal: boolean): boolean {
  const { phase, conditions } = isObject(status) ? status : {};
  const valid = Array.isArray(conditions)
    ? conditions.filter(isObject).find(({ type }) => type === 'Valid')
    : undefined;
  if (phase === undefined) return valid === undefined || valid.status === 'True';
  const good = ['Ready', 'Running', 'Valid', ...(isReal ? ['Pending', 'Deploying', 'Creating'] : [])];
  return good.includes(String(phase));
}
