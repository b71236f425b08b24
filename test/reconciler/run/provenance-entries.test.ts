// An image of a catalogue entry is held to the provenance of the entry: repository, workflow and issuer, as its publisher states them. A
// real PostgreSQL, the real executable, a registry of images in memory, signatures of an instance of Sigstore of our own.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveRegistry, type TestRegistry } from '../../adapters/oci/registry.ts';
import {
  attach,
  attestation,
  BUILDER,
  type Identity,
  makeImage,
  openSigstore,
  type Sigstore,
} from '../../adapters/oci/signer.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE } from './fleet.ts';

let world: World;
let database: TestDatabase;
let folder: InstanceFolder;
let registry: TestRegistry;
let sigstore: Sigstore;

beforeAll(async () => {
  [world, database, registry, sigstore] = await Promise.all([
    startWorld(),
    createTestDatabase(),
    serveRegistry(),
    openSigstore(),
  ]);
  folder = instanceFolder(world, database);
  writeFileSync(join(folder.dir, 'root.json'), sigstore.root);
  const verify = { mode: 'require', trustedRoot: 'root.json', plainHttp: [registry.host] };
  folder.configure({
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1', verify },
    apply: { waitSeconds: 0, maxDeletesPercent: 100 },
  });
});
afterAll(async () => {
  folder.remove();
  await Promise.all([world.close(), database.drop(), registry.close()]);
});

interface Provenance {
  readonly [member: string]: string;
}

const STATED: Provenance = {
  sigstore_url: 'tuf-repo-cdn.sigstore.dev',
  repository_uri: 'https://github.com/acme/wiki',
  signer_identity: '/.github/workflows/release.yml',
  runner_environment: '',
  cert_issuer: BUILDER.issuer,
};

/** A registry with an entry for the image, and a server that runs it. */
function publish(tag: string, provenance: Provenance | undefined): string {
  const image = `${registry.host}/acme/wiki:${tag}`;
  const common = {
    description: 'A wiki of ours',
    tier: 'Community',
    status: 'Active',
    transport: 'streamable-http',
    tools: ['read'],
  };
  const servers = { wiki: { ...common, image, ...(provenance === undefined ? {} : { provenance }) } };
  const content = JSON.stringify({ version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers });
  world.fleet.commit({
    'cluster/all.yaml': `${NAMESPACE}---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: tools, annotations: {toolhive.stacklok.dev/sync-trigger: 'now-${tag}'}}
spec:
  registries:
    - {name: all, format: toolhive, configMapRef: {name: servers, key: servers.json}, syncPolicy: {interval: 1h}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: servers, namespace: tools}
data: {servers.json: '${content}'}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: wiki, namespace: tools}
spec: {image: '${image}', transport: streamable-http}
`,
  });
  return image;
}

async function sync(): Promise<readonly string[]> {
  const { stdout, stderr } = await folder.run('sync', '-o', 'json');
  expect(stdout, stderr).toMatch(/^\{/);
  const { problems } = JSON.parse(stdout) as { problems: { code: string; message: string }[] };
  return problems.map(({ code, message }) => `${code}: ${message}`);
}

async function imageOf(): Promise<string | undefined> {
  const { body } = await world.cluster.send('GET', '/apis/apps/v1/namespaces/tools/statefulsets/wiki');
  return body.spec?.template.spec.containers[0]?.image;
}

async function signed(tag: string, identity: Identity): Promise<string> {
  const image = makeImage(registry, 'acme/wiki', tag);
  attach(registry, image, await attestation(sigstore, identity, image));
  return image.digest;
}

test('an image that is signed as its entry says is applied by its digest', async () => {
  const digest = await signed('1', BUILDER);
  const image = publish('1', STATED);
  // The catalogue is read in the run that applies it.
  expect(await sync()).toEqual([]);
  expect(await imageOf()).toBe(`${image}@${digest}`);
});

test.each<[string, string, Identity, Provenance | undefined, RegExp]>([
  ['another repository', '2', { ...BUILDER, repository: 'mallory/wiki' }, STATED, /^image-unverified: .*mallory\/wiki/],
  [
    'another workflow',
    '3',
    { ...BUILDER, subject: BUILDER.subject.replace('release', 'x') },
    STATED,
    /^image-unverified: .*x\.yml/,
  ],
  [
    'another issuer',
    '4',
    { ...BUILDER, issuer: 'https://issuer.example' },
    STATED,
    /^image-unverified: .*issuer\.example/,
  ],
  [
    'a provenance without an issuer',
    '5',
    BUILDER,
    { ...STATED, cert_issuer: '' },
    /^image-signer-unknown: .*cert_issuer/,
  ],
  ['no provenance', '6', BUILDER, undefined, /^image-signer-unknown: neither a rule/],
])('%s holds the children as they are', async (_what, tag, identity, provenance, says) => {
  const before = await imageOf();
  await signed(tag, identity);
  publish(tag, provenance);
  const [problem] = await sync();
  expect(problem).toMatch(says);
  expect(await imageOf()).toBe(before);
});
