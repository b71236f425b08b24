// Images of children are verified at their registry: unverified ones are not applied if that is required, and verified ones get their digest.
// The registry is one in memory; signatures come from an instance of Sigstore of our own. In one file, because all tests share both.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readProvenance } from '#contracts/registry/image-provenance.ts';
import { serveRegistry, type TestRegistry } from '../../adapters/oci/registry.ts';
import {
  attach,
  attestation,
  BUILDER,
  type Identity,
  type MadeImage,
  makeImage,
  openSigstore,
  type Sigstore,
} from '../../adapters/oci/signer.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { GROUP, NAMESPACE } from './fleet.ts';

const OTHER: Identity = { ...BUILDER, repository: 'mallory/wiki' };

let world: World;
let folder: InstanceFolder;
let registry: TestRegistry;
let sigstore: Sigstore;

beforeAll(async () => {
  world = await startWorld();
  sigstore = await openSigstore();
});
afterAll(() => world.close());

beforeEach(async () => {
  folder?.remove();
  await registry?.close();
  registry = await serveRegistry();
  folder = instanceFolder(world);
  writeFileSync(join(folder.dir, 'root.json'), sigstore.root);
});
afterAll(async () => {
  folder.remove();
  await registry.close();
});

function configure(mode: string, more: object = {}, proxy = 'proxy:1'): void {
  const rule = {
    image: `${registry.host}/acme/*`,
    identity: 'https://github.com/acme/wiki/.github/workflows/release.yml@*',
    issuer: BUILDER.issuer,
    repository: 'https://github.com/acme/wiki',
  };
  const verify = {
    mode,
    rules: [rule],
    trustedRoot: 'root.json',
    plainHttp: [registry.host],
    refreshSeconds: 30,
    ...more,
  };
  folder.configure({
    images: { proxy, vmcp: 'vmcp:1', registry: 'registry:1', verify },
    apply: { waitSeconds: 0, maxDeletesPercent: 100 },
  });
}

let servers = 0;
function newName(): string {
  servers += 1;
  return `wiki-${servers}`;
}

function publish(name: string, tag: string, spec = '', annotations = '{}'): void {
  world.fleet.commit({
    'cluster/base.yaml': `${NAMESPACE}---\n${GROUP}`,
    'cluster/wiki.yaml': `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: ${name}, namespace: tools, annotations: ${annotations}}
spec:
  image: ${registry.host}/acme/wiki:${tag}
  transport: streamable-http
${spec}`,
  });
}

async function signed(tag: string, identity = BUILDER, seed = tag): Promise<MadeImage> {
  const image = makeImage(registry, 'acme/wiki', tag, seed);
  attach(registry, image, await attestation(sigstore, identity, image));
  return image;
}

interface Synced {
  readonly code: number | null;
  readonly problems: readonly { readonly code: string; readonly severity: string; readonly message: string }[];
}

async function skep(...args: readonly string[]): Promise<Synced> {
  const { code, stdout, stderr } = await folder.run(...args, '-o', 'json');
  expect(stdout, stderr).toMatch(/^\{/);
  return { code, problems: JSON.parse(stdout).problems };
}

/** Of the containers of the server itself. */
async function imagesOf(name: string): Promise<readonly string[]> {
  const { body } = await world.cluster.send('GET', `/apis/apps/v1/namespaces/tools/statefulsets/${name}`);
  return (body.spec?.template.spec.containers ?? []).map(({ image }: { image: string }) => image);
}

test('under require a verified image is applied by its digest', async () => {
  configure('require');
  const name = newName();
  const { digest } = await signed('1');
  publish(name, '1');
  const sbom = { artifactType: 'application/spdx+json', subject: { digest }, layers: [] };
  const document = registry.putManifest('acme/wiki', sbom);
  const { code, problems } = await skep('sync');
  expect(problems).toEqual([]);
  expect(code).toBe(0);
  const { body } = await world.cluster.send('GET', `/apis/apps/v1/namespaces/tools/statefulsets/${name}`);
  const note = body.metadata.annotations['skep.dev/signed-images'];
  expect(note).toContain(
    `wiki:1@${digest}: an attestation https://slsa.dev/provenance/v1 by identity ${BUILDER.subject}`,
  );
  expect(note).toContain(`application/spdx+json ${document}`);
  const image = `${registry.host}/acme/wiki:1`;
  expect(readProvenance(body.metadata.annotations, image)).toEqual([
    {
      predicateType: 'https://slsa.dev/provenance/v1',
      repository: 'https://github.com/acme/wiki',
      identity: BUILDER.subject,
    },
  ]);
  // It stays when a run need not ask the registry again.
  expect((await skep('sync')).problems).toEqual([]);
  expect(await imagesOf(name)).toEqual([`${registry.host}/acme/wiki:1@${digest}`]);
});

test('a plan says that definitions were locked for another digest, or which ones a new lock accepts', async () => {
  configure('require');
  const name = newName();
  const [first, second] = [await signed('1'), await signed('2')];
  function publishLocked(tag: string, digest: string, title: string): void {
    const lock = `---
apiVersion: skep.dev/v1
kind: ToolLock
metadata: {name: ${name}, namespace: tools}
spec:
  server: {kind: MCPServer, image: "${registry.host}/acme/wiki:${tag}", digest: "${digest}"}
  tools: [{name: look_up, title: ${title}, inputSchema: {type: object}}]
`;
    publish(name, tag, lock, '{skep.dev/tools-lock: enforce}');
  }
  publishLocked('1', first.digest, 'One');
  expect((await skep('sync')).problems).toEqual([]);
  publishLocked('2', first.digest, 'One');
  expect((await skep('plan')).problems).toMatchObject([
    {
      code: 'lock-digest-differs',
      severity: 'warning',
      message: expect.stringContaining(`for ${first.digest}, and ${registry.host}/acme/wiki:2 is ${second.digest}`),
    },
  ]);
  publishLocked('2', second.digest, 'Two');
  const { stdout } = await folder.run('plan', '-o', 'json');
  const { problems, impact } = JSON.parse(stdout);
  expect(problems).toEqual([]);
  expect(impact.definitions).toMatchObject([{ list: 'tools', changed: ['look_up'], added: [], removed: [] }]);
});

test('under require an unverified image starts nothing, and the problem has its place', async () => {
  configure('require');
  const name = newName();
  makeImage(registry, 'acme/wiki', '1');
  publish(name, '1');
  const { code, problems } = await skep('sync');
  expect(code).not.toBe(0);
  expect(problems).toEqual([
    expect.objectContaining({
      code: 'image-unverified',
      severity: 'error',
      message: expect.stringMatching(/expected a signature by identity .*; found no signature/),
      file: expect.stringContaining('wiki.yaml'),
      line: 5,
      column: 10,
    }),
  ]);
  expect(await imagesOf(name)).toEqual([]);
});

test('a tag that moves to an unverified image keeps the children of before, and one that moves to a verified image is followed', async () => {
  configure('require');
  const name = newName();
  const first = await signed('1');
  publish(name, '1');
  await skep('sync');
  const kept = [`${registry.host}/acme/wiki:1@${first.digest}`];
  expect(await imagesOf(name)).toEqual(kept);

  publish(name, '2');
  await signed('2', OTHER);
  const refused = await skep('sync');
  expect(refused.problems[0]).toMatchObject({
    code: 'image-unverified',
    message: expect.stringContaining('mallory/wiki'),
  });
  expect(await imagesOf(name)).toEqual(kept);

  const third = await signed('3');
  publish(name, '3');
  expect((await skep('sync')).code).toBe(0);
  expect(await imagesOf(name)).toEqual([`${registry.host}/acme/wiki:3@${third.digest}`]);
});

test.each([
  ['down', 503, {}],
  ['limiting requests', 429, { 'retry-after': '120' }],
])('while the registry is %s, what was verified stays and nothing new is applied', async (_what, status, headers) => {
  configure('require');
  const name = newName();
  const { digest } = await signed('1');
  publish(name, '1');
  await skep('sync');
  const kept = [`${registry.host}/acme/wiki:1@${digest}`];
  registry.fault = () => ({ status, headers });
  expect((await skep('sync')).problems).toEqual([]);
  expect(await imagesOf(name)).toEqual(kept);

  await signed('2');
  publish(name, '2');
  const { problems } = await skep('sync');
  expect(problems[0]).toMatchObject({ code: 'image-not-checked', message: expect.stringContaining(String(status)) });
  expect(await imagesOf(name)).toEqual(kept);

  // Without what the state folder keeps, the children stay all the same.
  publish(name, '1');
  folder.remove();
  folder = instanceFolder(world);
  writeFileSync(join(folder.dir, 'root.json'), sigstore.root);
  configure('require');
  expect((await skep('sync')).problems[0]).toMatchObject({ code: 'image-not-checked' });
  expect(await imagesOf(name)).toEqual(kept);
});

test('a plan verifies as well, and shows the digest', async () => {
  configure('require');
  const name = newName();
  await signed('1');
  publish(name, '1');
  await skep('sync');
  const { digest } = await signed('2');
  publish(name, '2');
  expect((await folder.run('plan')).stdout).toContain(digest);
  makeImage(registry, 'acme/wiki', '3');
  publish(name, '3');
  expect((await skep('plan')).problems[0]).toMatchObject({ code: 'image-unverified' });
});

test('under warn an unverified image is applied with a warning, and pin decides about the digest of a verified one', async () => {
  configure('warn');
  const [name, verified] = [newName(), await signed('2')];
  makeImage(registry, 'acme/wiki', '1');
  publish(name, '1');
  const { code, problems } = await skep('sync');
  expect([code, problems.map((each) => `${each.severity} ${each.code}`)]).toEqual([0, ['warning image-unverified']]);
  expect(await imagesOf(name)).toEqual([`${registry.host}/acme/wiki:1`]);
  publish(name, '2');
  expect((await skep('sync')).problems).toEqual([]);
  expect(await imagesOf(name)).toEqual([`${registry.host}/acme/wiki:2`]);
  configure('warn', { pin: true });
  await skep('sync');
  expect(await imagesOf(name)).toEqual([`${registry.host}/acme/wiki:2@${verified.digest}`]);
});

test('under require an image that no rule and no entry names is refused, and a namespace that is off is left alone', async () => {
  configure('require', { rules: [] });
  const name = newName();
  await signed('1');
  publish(name, '1');
  expect((await skep('sync')).problems[0]).toMatchObject({ code: 'image-signer-unknown', severity: 'error' });
  expect(await imagesOf(name)).toEqual([]);
  configure('require', { rules: [], namespaces: [{ name: 'to*', mode: 'off' }] });
  registry.requests.length = 0;
  expect((await skep('sync')).problems).toEqual([]);
  expect(await imagesOf(name)).toEqual([`${registry.host}/acme/wiki:1`]);
  expect(registry.requests).toEqual([]);
});

test("an image of skep's own workloads is checked if a rule names it", async () => {
  const name = newName();
  await signed('1');
  makeImage(registry, 'acme/proxy', '1');
  configure('require', {}, `${registry.host}/acme/proxy:1`);
  publish(name, '1');
  expect((await skep('sync')).problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
    expect.stringMatching(/^image-unverified image \S+\/acme\/proxy:1 /),
  ]);
  expect(await imagesOf(name)).toEqual([]);
});

test('a private registry gets the credentials of the pull secret of the pod', async () => {
  configure('require');
  const name = newName();
  const { digest } = await signed('1');
  registry.account = { user: 'robot', password: 'secret' };
  publish(name, '1');
  const refused = await skep('sync');
  expect(refused.problems[0]).toMatchObject({ code: 'image-not-checked', message: expect.stringContaining('401') });
  const auths = { [registry.host]: { auth: Buffer.from('robot:secret').toString('base64') } };
  const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'pull' },
    type: 'kubernetes.io/dockerconfigjson',
    data,
  };
  await world.cluster.send('POST', '/api/v1/namespaces/tools/secrets', { body: secret });
  publish(name, '1', '  podTemplateSpec: {spec: {imagePullSecrets: [{name: pull}]}}\n');
  expect((await skep('sync')).problems).toEqual([]);
  expect(await imagesOf(name)).toEqual([`${registry.host}/acme/wiki:1@${digest}`]);
});
