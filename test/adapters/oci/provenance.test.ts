// Images of a registry are signed by keys and by an instance of Sigstore, and the right ones are accepted. In one file, because each row is one
// image of the same registry.

import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import type { KeepingVerifier, VerifierOptions } from '#adapters/oci/verifier.ts';
import { decide } from '#reconciler/run/images/decide.ts';
import { type Expectation, unfulfilled } from '#reconciler/run/images/policy.ts';
import { openTestVerifier } from './open-verifier.ts';
import { serveRegistry, type TestRegistry } from './registry.ts';
import {
  attach,
  attestation,
  BUILDER,
  cosign,
  type Identity,
  makeImage,
  makeIndex,
  openSigstore,
  type Sigstore,
  SLSA,
} from './signer.ts';

const EXPECTED: Expectation = {
  identity: 'https://github.com/acme/wiki/.github/workflows/release.yml@refs/tags/*',
  issuer: BUILDER.issuer,
  repository: 'https://github.com/acme/wiki',
};
const KEY_FILE = '/etc/keys/cosign.pub';
const BY_KEY: Expectation = { keyFile: KEY_FILE };

let registry: TestRegistry;
let outbound: Outbound;
let sigstore: Sigstore;
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
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
  const readKeys = async () => keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return openTestVerifier({ registry, outbound, sigstore: () => sigstore, now: () => clock }, { readKeys, ...more });
}

/** Returns the digest that a namespace that requires verification gets, or the message of the problem. */
async function verify(verifier: KeepingVerifier, tag = 'wiki:1', expectation = EXPECTED, pullSecrets: string[] = []) {
  const image = `${registry.host}/acme/${tag}`;
  const all = [expectation];
  const facts = await verifier.inspect({
    image,
    namespace: 'tools',
    keyFiles: expectation.keyFile === undefined ? [] : [expectation.keyFile],
    pullSecrets,
    isEnough: (known) => unfulfilled(all, known).length === 0,
  });
  const { pin, problem } = decide({ image, mode: 'require', expected: { by: 'rule', all }, pin: false }, facts);
  return pin?.name.split('@')[1] ?? `${problem?.code}: ${problem?.message}`;
}

describe('what is signed as expected is verified, and its digest is known', () => {
  test('a signature of cosign by a key', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    await cosign(registry, image, { key: keys.privateKey });
    expect(await verify(open(), 'wiki:1', BY_KEY)).toBe(image.digest);
  });

  test('a signature of cosign by a certificate', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    await cosign(registry, image, { sigstore, identity: BUILDER });
    expect(await verify(open())).toBe(image.digest);
  });

  test.each([
    ['the referrers API', {}],
    ['the tag of the referrers schema', { hasReferrers: false }],
    ['a list with the types of configurations', { listsConfigTypes: true }],
  ])('a build attestation, by %s', async (_way, settings) => {
    Object.assign(registry, settings);
    const image = makeImage(registry, 'acme/wiki', '1');
    attach(registry, image, await attestation(sigstore, BUILDER, image));
    expect(await verify(open())).toBe(image.digest);
    expect(await verify(open(), 'wiki:1', { ...EXPECTED, attestation: SLSA })).toBe(image.digest);
  });

  test('an index of two architectures: the signature is one of the index', async () => {
    const index = makeIndex(registry, 'acme/wiki', '1');
    attach(registry, index, await attestation(sigstore, BUILDER, index));
    expect(await verify(open())).toBe(index.digest);
    expect(await verify(open(), 'wiki:1-amd64')).toMatch(/^image-unverified: .* found no signature/);
  });

  test('an attestation of an instance without logs, by its timestamp', async () => {
    sigstore = await openSigstore({ stampedAt: new Date(Date.now() + 60_000) });
    const image = makeImage(registry, 'acme/wiki', '1');
    attach(registry, image, await attestation(sigstore, BUILDER, image));
    expect(await verify(open())).toBe(image.digest);
  });

  test('an image that is named by its digest', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    attach(registry, image, await attestation(sigstore, BUILDER, image));
    expect(await verify(open(), `wiki@${image.digest}`)).toBe(image.digest);
  });
});

describe('what is not signed as expected is refused, with what was expected and what was found', () => {
  test('no signature', async () => {
    makeImage(registry, 'acme/wiki', '1');
    expect(await verify(open())).toMatch(
      /^image-unverified: image .* is not verified: expected a signature by identity .*, issuer .*, repository https:\/\/github.com\/acme\/wiki; found no signature and no attestation/,
    );
  });

  test.each<[string, Identity, RegExp]>([
    [
      'identity',
      { ...BUILDER, subject: BUILDER.subject.replace('release', 'other') },
      /found .*identity \S*other\.yml/,
    ],
    ['issuer', { ...BUILDER, issuer: 'https://issuer.example' }, /found .*issuer https:\/\/issuer\.example/],
    [
      'repository',
      { ...BUILDER, repository: 'mallory/wiki' },
      /found .*repository https:\/\/github.com\/mallory\/wiki/,
    ],
    [
      'repository that is not stated',
      { subject: BUILDER.subject, issuer: BUILDER.issuer },
      /found .*issuer \S+$|found/,
    ],
  ])('another %s', async (_what, identity, says) => {
    const image = makeImage(registry, 'acme/wiki', '1');
    attach(registry, image, await attestation(sigstore, identity, image));
    await cosign(registry, image, { sigstore, identity });
    const refusal = await verify(open());
    expect(refusal).toMatch(/^image-unverified/);
    expect(refusal).toMatch(says);
  });

  test('another key', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    await cosign(registry, image, { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey });
    expect(await verify(open(), 'wiki:1', BY_KEY)).toMatch(/^image-unverified: .*signature verification failed/);
  });

  test('a certificate where a key is expected, and a key where a certificate is', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    await cosign(registry, image, { sigstore, identity: BUILDER });
    expect(await verify(open(), 'wiki:1', BY_KEY)).toMatch(/^image-unverified/);
    await cosign(registry, image, { key: keys.privateKey });
    expect(await verify(open())).toMatch(/^image-unverified/);
  });

  test.each([-3_600_000, 3_600_000])(
    'a certificate that did not hold when it was used, %d ms from then',
    async (ms) => {
      sigstore = await openSigstore({ loggedAt: new Date(Date.now() + ms) });
      const image = makeImage(registry, 'acme/wiki', '1');
      attach(registry, image, await attestation(sigstore, BUILDER, image));
      expect(await verify(open())).toMatch(/^image-unverified: .*certificate/i);
    },
  );

  test('a timestamp from after the certificate, and a timestamp without the log that the root has', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    sigstore = await openSigstore({ stampedAt: new Date(Date.now() + 3_600_000) });
    attach(registry, image, await attestation(sigstore, BUILDER, image));
    expect(await verify(open())).toMatch(/^image-unverified: .*certificate/i);
    const other = makeImage(registry, 'acme/wiki', '2');
    sigstore = await openSigstore({ stampedAt: new Date(Date.now() + 60_000) });
    attach(registry, other, await attestation(sigstore, BUILDER, other));
    const { tlogs } = JSON.parse((await openSigstore()).root);
    const root = async () => JSON.stringify({ ...JSON.parse(sigstore.root), tlogs });
    expect(await verify(open({ root }), 'wiki:2')).toMatch(/^image-unverified: .*tlog/);
  });

  test('an instance of Sigstore that is not trusted', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    attach(registry, image, await attestation(await openSigstore(), BUILDER, image));
    expect(await verify(open())).toMatch(/^image-unverified: .*certificate/i);
  });

  test('a tampered bundle: another payload, another time, no log entry', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    const bundle = await attestation(sigstore, BUILDER, image);
    const { dsseEnvelope, verificationMaterial } = bundle;
    const [entry] = verificationMaterial.tlogEntries;
    const payload = Buffer.from(dsseEnvelope.payload, 'base64')
      .toString()
      .replace('"predicate":{}', '"predicate":{"a":1}');
    attach(registry, image, {
      ...bundle,
      dsseEnvelope: { ...dsseEnvelope, payload: Buffer.from(payload).toString('base64') },
    });
    attach(registry, image, {
      ...bundle,
      verificationMaterial: {
        ...verificationMaterial,
        tlogEntries: [{ ...entry, integratedTime: String(Number(entry?.integratedTime) + 1) }],
      },
    });
    attach(registry, image, { ...bundle, verificationMaterial: { ...verificationMaterial, tlogEntries: [] } });
    const refusal = await verify(open());
    expect(refusal).toMatch(/^image-unverified/);
    expect(refusal.match(/a signature that does not hold/g)).toHaveLength(3);
  });

  test('a bundle and a signature for another digest', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    const other = makeImage(registry, 'acme/wiki', '2');
    attach(registry, image, await attestation(sigstore, BUILDER, other));
    await cosign(registry, image, { sigstore, identity: BUILDER }, other.digest);
    const refusal = await verify(open());
    expect(refusal).toMatch(/^image-unverified: .*attestation about another digest.*signature for another digest/);
  });

  test('a referrer that the list has, and that is about another image', async () => {
    registry.hasReferrers = false;
    const image = makeImage(registry, 'acme/wiki', '1');
    const bundle = await attestation(sigstore, BUILDER, image);
    const other = makeImage(registry, 'acme/wiki', '2');
    attach(registry, other, bundle);
    const index = registry.contents.get(`acme/wiki/manifests/${other.digest.replace(':', '-')}`);
    if (index !== undefined) registry.contents.set(`acme/wiki/manifests/${image.digest.replace(':', '-')}`, index);
    expect(await verify(open())).toMatch(/^image-unverified: .*bundle for another digest/);
  });

  test('tampered content: the manifest of the image, the manifest of the bundle, its blob', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    const attached = attach(registry, image, await attestation(sigstore, BUILDER, image));
    const tamper = (path: string): void => {
      registry.contents.set(path, Buffer.concat([registry.contents.get(path) ?? Buffer.alloc(0), Buffer.from(' ')]));
    };
    const blobs = [...registry.contents.keys()].filter((path) => path.startsWith('acme/wiki/blobs/'));
    const before = new Map(registry.contents);
    for (const blob of blobs) tamper(blob);
    expect(await verify(open())).toMatch(/^image-unverified: .*sent another blob/);
    for (const [path, bytes] of before) registry.contents.set(path, bytes);
    tamper(`acme/wiki/manifests/${attached}`);
    expect(await verify(open())).toMatch(/^image-unverified: .*sent another manifest/);
    tamper(`acme/wiki/manifests/${image.digest}`);
    expect(await verify(open(), `wiki@${image.digest}`)).toMatch(/^image-not-checked: .*sent another manifest/);
  });

  test('an attestation that says something else, such as that a scan has found something', async () => {
    const image = makeImage(registry, 'acme/wiki', '1');
    const predicateType = 'https://cosign.sigstore.dev/attestation/vuln/v1';
    attach(registry, image, await attestation(sigstore, BUILDER, { ...image, predicateType }));
    expect(await verify(open())).toMatch(/^image-unverified/);
  });
});
