// Our definitions take the place of those of another operator, whichever versions the server has stored by those, and give it
// back: no stored version goes, and every object stays whole in both versions.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { newGroup } from './definitions.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

let server: SuiteServer;
let client: ConnectedCluster;
let namespace: string;

beforeAll(async () => {
  server = await openServer();
  client = await server.client('stored');
  namespace = await server.namespace('stored');
});

afterAll(() => server.close());

const VERSIONS = ['v1alpha1', 'v1beta1'] as const;
type Version = (typeof VERSIONS)[number];

function ours(group: string): KubeObject {
  const kind = KINDS.find((each) => each.kind === 'MCPRemoteProxy');
  if (kind === undefined) throw new Error('MCPRemoteProxy is one of our kinds');
  return crd(kind, group);
}

/** Of another operator, which keeps whatever it gets. */
function theirs(group: string, served: readonly Version[], stored: Version): KubeObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const { spec, ...definition } = ours(group);
  const versions = served.map((name) => ({
    ...{ name, served: true, storage: name === stored, subresources: { status: {} } },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
  }));
  return { ...definition, spec: { ...(spec as JsonObject), versions } } as KubeObject;
}

async function define(definition: KubeObject): Promise<readonly string[]> {
  const { apiVersion, kind, metadata } = definition;
  await client.apply(definition, { force: true });
  const wanted = storedIn(definition);
  const living = await eventually(
    () => client.get({ apiVersion, kind, name: metadata.name }),
    (found) => stored(found).includes(wanted) && isEstablished(found),
  );
  client.refresh();
  return stored(living);
}

function storedIn({ spec }: KubeObject): string {
  const versions = isObject(spec) && Array.isArray(spec.versions) ? spec.versions.filter(isObject) : [];
  return String(versions.find(({ storage }) => storage === true)?.name);
}

function stored(definition: KubeObject | undefined): readonly string[] {
  const status = isObject(definition?.status) ? definition.status : {};
  return Array.isArray(status.storedVersions) ? status.storedVersions.map(String) : [];
}

function isEstablished(definition: KubeObject | undefined): boolean {
  const status = isObject(definition?.status) ? definition.status : {};
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  return conditions.some(({ type, status: is }) => type === 'Established' && is === 'True');
}

const SPECS: Readonly<Record<Version, JsonObject>> = {
  v1alpha1: { remoteURL: 'https://mcp.example.com', groupRef: 'tools', oidcConfig: { type: 'kubernetes' } },
  v1beta1: { remoteUrl: 'https://mcp.example.com', groupRef: { name: 'tools' }, oidcConfig: { type: 'kubernetes' } },
};

function object(group: string, version: Version, spec: JsonObject): KubeObject {
  const metadata = { name: `of-${version}`, namespace };
  return { apiVersion: `${group}/${version}`, kind: 'MCPRemoteProxy', metadata, spec };
}

async function expectWhole(group: string, written: Version): Promise<void> {
  for (const version of VERSIONS) {
    const { apiVersion, kind, metadata } = object(group, version, {});
    const name = `of-${written}`;
    const found = await client.get({ apiVersion, kind, namespace, name });
    expect(found?.spec, `${metadata.name} in ${version}`).toMatchObject(SPECS[written]);
  }
}

const ROWS: readonly {
  readonly served: readonly Version[];
  readonly storing: readonly Version[];
  readonly was: string;
}[] = [
  { was: 'v1alpha1 alone', served: ['v1alpha1'], storing: ['v1alpha1'] },
  { was: 'v1alpha1, then v1beta1', served: VERSIONS, storing: ['v1alpha1', 'v1beta1'] },
  { was: 'v1beta1 alone', served: VERSIONS, storing: ['v1beta1'] },
];

test.each(ROWS)('a server that has stored $was takes our definitions, and those of before again', async (row) => {
  const { served, storing } = row;
  const group = newGroup('stored');
  const { apiVersion, kind, metadata } = ours(group);
  server.later({ apiVersion, kind, name: metadata.name });
  for (const version of storing) {
    await define(theirs(group, served, version));
    await eventually(
      () =>
        client.apply(object(group, version, SPECS[version]), { force: true }).then(
          () => true,
          () => false,
        ),
      (done) => done,
    );
  }
  const before = stored(await client.get({ apiVersion, kind, name: metadata.name }));
  expect(before).toEqual(storing);
  const after = await define(ours(group));
  expect(after).toEqual([...new Set([...before, 'v1beta1'])]);
  for (const version of storing) {
    await expectWhole(group, version);
    // A patch of the status validates the whole object, in the version of the request.
    for (const asked of VERSIONS) {
      const { spec: _spec, metadata: _metadata, ...id } = object(group, asked, {});
      const status = { phase: 'Pending', message: `as ${asked}` };
      const patched = { ...id, metadata: { name: `of-${version}`, namespace }, status };
      await client.apply(patched, { force: true, subresource: 'status' });
    }
    await expectWhole(group, version);
  }
  const back = await define(theirs(group, VERSIONS, 'v1beta1'));
  expect(back).toEqual(after);
  for (const version of storing) await expectWhole(group, version);
});
