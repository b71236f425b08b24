// A verifier requests no more of a registry than it needs, with the right credentials, and goes on if there is no answer. In one file, because
// all tests count the requests of one registry.

import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { credentialsFor } from '#adapters/oci/credentials.ts';
import { openRepository } from '#adapters/oci/registry.ts';
import { readTrust } from '#adapters/oci/sigstore.ts';
import type { KeepingVerifier, VerifierOptions } from '#adapters/oci/verifier.ts';
import type { ImageFacts } from '#reconciler/run/images/ports.ts';
import { parseImageName } from '#std/address/image-name.ts';
import { Failure } from '#std/failure.ts';
import { openTestVerifier, REFRESH_MS } from './open-verifier.ts';
import { serveRegistry, type TestRegistry } from './registry.ts';
import {
  attach,
  attestation,
  type Identity,
  type MadeImage,
  makeImage,
  openSigstore,
  type Sigstore,
} from './signer.ts';

const BUILDER: Identity = { subject: 'https://ci.example/wiki', issuer: 'https://issuer.example' };

let registry: TestRegistry;
let outbound: Outbound;
let sigstore: Sigstore;
let clock: number;

beforeEach(async () => {
  registry = await serveRegistry();
  outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'test' });
  sigstore = await openSigstore();
  clock = Date.now();
});
afterEach(async () => {
  await outbound.close();
  await registry.close();
});

function open(more: Partial<VerifierOptions> = {}): KeepingVerifier {
  return openTestVerifier({ registry, outbound, sigstore: () => sigstore, now: () => clock }, more);
}

async function signed(tag: string): Promise<MadeImage> {
  const image = makeImage(registry, 'acme/wiki', tag);
  attach(registry, image, await attestation(sigstore, BUILDER, image));
  return image;
}

function inspect(verifier: KeepingVerifier, tag = 'wiki:1', more: object = {}): Promise<ImageFacts> {
  return verifier.inspect({
    image: `${registry.host}/acme/${tag}`,
    namespace: 'tools',
    keyFiles: [],
    pullSecrets: [],
    isEnough: ({ signatures }) => signatures.some(({ identity }) => identity === BUILDER.subject),
    ...more,
  });
}

function requestsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  registry.requests.length = 0;
  return work().then(() => [...registry.requests]);
}

describe('a digest is verified once', () => {
  test('a tag is resolved again after a while only, and nothing else is requested then', async () => {
    await signed('1');
    const verifier = open();
    expect((await requestsOf(() => inspect(verifier))).length).toBeGreaterThan(3);
    expect(await requestsOf(() => inspect(verifier))).toEqual([]);
    clock += REFRESH_MS;
    expect(await requestsOf(() => inspect(verifier))).toEqual(['/v2/acme/wiki/manifests/1']);
  });

  test('a digest is not requested again at all, nor by the next process', async () => {
    const { digest } = await signed('1');
    const verifier = open();
    await inspect(verifier, `wiki@${digest}`);
    clock += 100 * REFRESH_MS;
    expect(await requestsOf(() => inspect(verifier, `wiki@${digest}`))).toEqual([]);
    const next = open({ stored: verifier.save() });
    expect(await requestsOf(() => inspect(next, `wiki@${digest}`))).toEqual([]);
    expect(verifier.save()).toBeUndefined();
  });

  test('another trusted root verifies again', async () => {
    await signed('1');
    const verifier = open();
    await inspect(verifier);
    sigstore = await openSigstore();
    expect(await inspect(verifier)).toMatchObject({ state: 'known', signatures: [] });
  });

  test('another expectation looks for further signatures', async () => {
    const image = await signed('1');
    const verifier = open();
    await inspect(verifier);
    const other = { ...BUILDER, subject: 'https://ci.example/other' };
    attach(registry, image, await attestation(sigstore, other, image));
    const isEnough: Parameters<typeof verifier.inspect>[0]['isEnough'] = ({ signatures }) =>
      signatures.some(({ identity }) => identity === other.subject);
    expect(await inspect(verifier, 'wiki:1', { isEnough })).toMatchObject({
      signatures: [{}, { identity: other.subject }],
    });
  });

  test.each(['{', '[]', '{"version":2}', '{"version":1,"tags":[["a",1]],"verified":[["b",{"state":"known"}],3]}'])(
    'of a stored file that is not one nothing is used: %s',
    async (stored) => {
      await signed('1');
      expect(await inspect(open({ stored }))).toMatchObject({ state: 'known' });
    },
  );

  test('a namespace is not told which digest a tag has for another', async () => {
    await signed('1');
    const verifier = open();
    await inspect(verifier);
    registry.fault = () => ({ status: 401 });
    expect(await inspect(verifier, 'wiki:1', { namespace: 'other' })).toMatchObject({ state: 'unknown' });
  });
});

describe('a registry that does not answer', () => {
  test('what was verified before counts, also if the tag is due', async () => {
    const { digest } = await signed('1');
    const verifier = open();
    await inspect(verifier);
    clock += REFRESH_MS;
    registry.fault = () => ({ status: 500 });
    expect(await inspect(verifier)).toMatchObject({ state: 'known', digest });
    await registry.close();
    clock += REFRESH_MS;
    expect(await inspect(verifier)).toMatchObject({ state: 'known', digest });
  });

  test.each([
    ['seconds', '120', 120_000],
    ['a date', () => new Date(Math.ceil(clock / 1000) * 1000 + 120_000).toUTCString(), 122_000],
    ['nothing', undefined, 60_000],
  ])('is not asked before the time that it names in %s, whatever the image', async (_how, after, waitMs) => {
    await Promise.all([signed('1'), signed('2')]);
    const header = typeof after === 'function' ? after() : after;
    const headers: Record<string, string> = header === undefined ? {} : { 'retry-after': header };
    registry.fault = () => ({ status: 429, headers });
    const verifier = open();
    expect(await inspect(verifier)).toMatchObject({ state: 'unknown', reason: expect.stringContaining('429') });
    registry.fault = undefined;
    clock += 20_000;
    expect(await requestsOf(() => inspect(verifier, 'wiki:2'))).toEqual([]);
    clock += waitMs;
    expect(await inspect(verifier)).toMatchObject({ state: 'known' });
  });

  test('an unsigned image is looked at again after a minute', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    const verifier = open();
    expect(await inspect(verifier)).toMatchObject({ signatures: [] });
    attach(registry, image, await attestation(sigstore, BUILDER, image));
    expect(await requestsOf(() => inspect(verifier))).toEqual([]);
    clock += 60_001;
    expect(await inspect(verifier)).toMatchObject({
      signatures: [expect.objectContaining({ identity: BUILDER.subject })],
    });
  });

  test('a tag that moved to an unsigned image does not pass for the one before', async () => {
    await signed('1');
    const verifier = open();
    await inspect(verifier);
    const { digest } = makeImage(registry, 'acme/wiki', '1', 'another build');
    clock += REFRESH_MS;
    expect(await inspect(verifier)).toMatchObject({ state: 'known', digest, signatures: [] });
  });
});

describe('credentials', () => {
  const AUTHS = { robot: Buffer.from('robot:a:b').toString('base64') };
  const secretFor = (host: string) => JSON.stringify({ auths: { [host]: { auth: AUTHS.robot } } });

  test('go to the token service of the registry, for this repository, and the registry gets the token', async () => {
    await signed('1');
    registry.account = { user: 'robot', password: 'a:b' };
    const verifier = open({ pullSecret: async () => secretFor(registry.host) });
    const requests = await requestsOf(async () =>
      expect(await inspect(verifier, 'wiki:1', { pullSecrets: ['pull'] })).toMatchObject({ state: 'known' }),
    );
    expect(requests.slice(0, 3)).toEqual(['/v2/acme/wiki/manifests/1', '+/token', '+/v2/acme/wiki/manifests/1']);
  });

  test.each([
    ['https://tokens.example.com/token', 'images.verify.realms does not name'],
    ['http://169.254.169.254/latest/meta-data', 'not https'],
    ['https://user:password@tokens.example.com/', 'URL'],
    ['file:///etc/passwd', 'not https'],
    ['', 'URL'],
  ])('never go to another service than the registry has: %s', async (realm, says) => {
    await signed('1');
    registry.account = { user: 'robot', password: 'a:b', realm };
    const facts = await inspect(open({ pullSecret: async () => secretFor(registry.host) }), 'wiki:1', {
      pullSecrets: ['pull'],
    });
    expect(facts).toMatchObject({ state: 'unknown', reason: expect.stringContaining(says) });
    expect(registry.requests).toEqual(['/v2/acme/wiki/manifests/1']);
  });

  test('an address that outbound.allowPrivate does not name is not connected to', async () => {
    await signed('1');
    const guarded = createOutbound({ allowPrivate: [], version: 'test' });
    expect(await inspect(open({ outbound: guarded }))).toMatchObject({
      state: 'unknown',
      reason: expect.stringContaining('outbound.allowPrivate'),
    });
    expect(registry.requests).toEqual([]);
    await guarded.close();
  });

  test('a registry without TLS is asked by https if it is not named in plainHttp', async () => {
    await signed('1');
    expect(await inspect(open({ plainHttp: [] }))).toMatchObject({ state: 'unknown' });
    expect(registry.requests).toEqual([]);
  });

  test('do not follow a redirect to the storage of the registry, whose content is compared with its digest', async () => {
    await signed('1');
    const storage = await serveRegistry();
    for (const [path, bytes] of registry.contents) storage.contents.set(path, bytes);
    registry.account = { user: 'robot', password: 'a:b' };
    registry.fault = (path) =>
      path.includes('/blobs/') ? { status: 307, headers: { location: `http://${storage.host}${path}` } } : undefined;
    const verifier = open({ pullSecret: async () => secretFor(registry.host) });
    expect(await inspect(verifier, 'wiki:1', { pullSecrets: ['pull'] })).toMatchObject({ signatures: [{}] });
    expect(storage.requests).toEqual([expect.stringMatching(/^\/v2\/acme\/wiki\/blobs\//)]);
    await storage.close();
  });

  test.each([
    ['ghcr.io/acme/wiki', { 'ghcr.io': 'a:1' }, 'a'],
    ['ghcr.io/acme/wiki', { 'https://ghcr.io/v2/': 'a:1' }, 'a'],
    ['ghcr.io/acme/wiki', { 'ghcr.io': 'a:1', 'ghcr.io/acme': 'b:1' }, 'b'],
    ['ghcr.io/acmeother/wiki', { 'ghcr.io/acme': 'b:1' }, undefined],
    ['wiki', { 'https://index.docker.io/v1/': 'hub:1' }, 'hub'],
    ['eu.gcr.io/x/y', { '*.gcr.io': 'g:1' }, 'g'],
    ['evil.example/ghcr.io/wiki', { 'ghcr.io': 'a:1' }, undefined],
    ['a.b.gcr.io/x', { '*.gcr.io': 'g:1' }, undefined],
  ])('of %s by %j', (image, auths, user) => {
    const entries = Object.entries(auths).map(([key, value]) => [key, { auth: Buffer.from(value).toString('base64') }]);
    const name = parseImageName(image);
    expect(
      name && credentialsFor([JSON.stringify({ auths: Object.fromEntries(entries) }), 'no JSON'], name)?.user,
    ).toBe(user);
  });
});

test('a file with keys or a root that is not one makes the facts unknown', async () => {
  await signed('1');
  expect(await inspect(open(), 'wiki:1', { keyFiles: ['a.pub'] })).toMatchObject({
    state: 'unknown',
    reason: expect.stringContaining('a.pub'),
  });
  expect(await inspect(open({ root: async () => '{}' }))).toMatchObject({
    state: 'unknown',
    reason: expect.stringContaining('trustedRoot'),
  });
  const root = async () => {
    throw new Failure('image-trust', 'gone');
  };
  expect(await inspect(open({ root }))).toMatchObject({ state: 'unknown', reason: 'gone' });
});

test.each([
  ['wiki', 'docker.io/library/wiki:latest'],
  ['acme/wiki:1', 'docker.io/acme/wiki:1'],
  ['index.docker.io/library/wiki', 'docker.io/library/wiki:latest'],
  ['localhost/wiki', 'localhost/wiki:latest'],
  ['registry.example:5000/a/b:v1', 'registry.example:5000/a/b:v1'],
  [`ghcr.io/a/b@sha256:${'a'.repeat(64)}`, 'ghcr.io/a/b:'],
  ['ghcr.io/A/b', undefined],
  ['ghcr.io/a/../b', undefined],
  ['ghcr.io/a/b?x=1', undefined],
  ['ghcr.io/a/b@sha256:abc', undefined],
  ['user@evil.example/a', undefined],
  ['evil.example#/a', undefined],
  ['', undefined],
])('the name %s is that of %s', (text, whole) => {
  const name = parseImageName(text);
  expect(name && `${name.registry}/${name.repository}:${name.tag ?? ''}`).toBe(whole);
});

test.each([
  ['image-registry', 503, {}],
  ['image-realm', 401, { 'www-authenticate': 'Bearer realm="https://tokens.example.com/"' }],
  ['image-content', 200, {}],
])('a manifest that is not one fails with %s', async (code, status, headers) => {
  const image = parseImageName(`${registry.host}/acme/wiki:1`);
  registry.fault = () => ({ status, headers });
  const options = { outbound, plainHttp: [registry.host], realms: {}, now: () => clock };
  const asked = image && openRepository(options, image).manifest(`sha256:${'a'.repeat(64)}`);
  await expect(asked).rejects.toMatchObject({ code });
});

test('the trusted root of the public-good instance is one, with its logs and authorities', () => {
  const path = new URL('../../../src/hosts/reconciler/images/public-good.json', import.meta.url);
  const { material } = readTrust(readFileSync(path, 'utf8'), []);
  expect(material.tlogs.map(({ baseURL }) => baseURL)).toContain('https://rekor.sigstore.dev');
  expect(material.certificateAuthorities.length).toBeGreaterThan(0);
  expect(material.ctlogs.length).toBeGreaterThan(0);
  expect(material.timestampAuthorities.length).toBeGreaterThan(0);
});
