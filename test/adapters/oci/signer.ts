// Makes images in a registry and signs them: with keys, and with certificates and log entries of the mock of Sigstore, which has a
// trusted root of its own. In one file, because all ways to sign share its certificates and logs.

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  fulcioHandler,
  initializeCA,
  initializeCTLog,
  initializeTLog,
  initializeTSA,
  rekorHandler,
  tsaHandler,
} from '@sigstore/mock';
import { sha256 } from '#std/hash.ts';
import type { TestRegistry } from './registry.ts';

export interface Identity {
  readonly subject: string;
  readonly issuer: string;
  /** owner/name at github.com. */
  readonly repository?: string;
}

/** Workflow that builds the image `acme/wiki`. */
export const BUILDER: Identity = {
  subject: 'https://github.com/acme/wiki/.github/workflows/release.yml@refs/tags/v1',
  issuer: 'https://token.actions.githubusercontent.com',
  repository: 'acme/wiki',
};

const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

export const SLSA = 'https://slsa.dev/provenance/v1';

/**
 * An instance of Sigstore. `loggedAt`: the time of its log; certificates begin now and hold for ten minutes. `stampedAt`: it has no logs, as
 * that of GitHub for private repositories, and its timestamps are of this time.
 */
export async function openSigstore({
  loggedAt,
  stampedAt,
}: {
  readonly loggedAt?: Date;
  readonly stampedAt?: Date;
} = {}) {
  const hasLogs = stampedAt === undefined;
  // The mock leaves out the last zero of milliseconds, which DER allows and readers of three digits do not.
  const wholeSecond = stampedAt && new Date(Math.ceil(stampedAt.getTime() / 1000) * 1000);
  const logKeys = pair();
  const ctlog = await initializeCTLog(pair());
  const ca = await initializeCA(generateKeyPairSync('ec', { namedCurve: 'P-384' }), hasLogs ? ctlog : undefined);
  const tsa = await initializeTSA(generateKeyPairSync('ec', { namedCurve: 'P-384' }), wholeSecond);
  const timestamps = tsaHandler(tsa, { strict: true });
  const tlog = await initializeTLog('https://rekor.example', logKeys, loggedAt);
  const fulcio = fulcioHandler(ca, { strict: true });
  const rekor = rekorHandler(tlog, { strict: true });
  const start = new Date(Date.now() - 3_600_000).toISOString();
  const der = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const log = (key: Uint8Array, id: Uint8Array) => ({
    baseUrl: 'https://rekor.example',
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: der(key), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor: { start } },
    logId: { keyId: der(id) },
  });
  const view = (buffer: ArrayBufferView) => new Uint8Array(buffer.buffer as ArrayBuffer);
  const root = {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: hasLogs ? [log(tlog.publicKey, Buffer.from(sha256(tlog.publicKey), 'hex'))] : [],
    certificateAuthorities: [
      {
        subject: { organization: 'sigstore.mock', commonName: 'sigstore' },
        uri: 'https://fulcio.example',
        certChain: { certificates: [{ rawBytes: der(view(ca.rootCertificate)) }] },
        validFor: { start },
      },
    ],
    ctlogs: hasLogs ? [log(ctlog.publicKey, view(ctlog.logID))] : [],
    timestampAuthorities: [
      {
        subject: { organization: 'sigstore.mock', commonName: 'tsa' },
        uri: 'https://tsa.example',
        certChain: {
          certificates: [tsa.intCertificate, tsa.rootCertificate].map((each) => ({ rawBytes: der(view(each)) })),
        },
        validFor: { start },
      },
    ],
  };
  async function certificate(publicKey: KeyObject, { subject, issuer, repository }: Identity): Promise<string> {
    const claims = { sub: subject, iss: issuer, ...(repository === undefined ? {} : { repository }) };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = {
      credentials: { oidcIdentityToken: `${part({ alg: 'none' })}.${part(claims)}.` },
      publicKeyRequest: { publicKey: { content: publicKey.export({ format: 'pem', type: 'spki' }).toString() } },
    };
    const { response } = await fulcio.fn(JSON.stringify(body));
    const [leaf = ''] = JSON.parse(String(response)).signedCertificateEmbeddedSct.chain.certificates;
    return leaf;
  }
  async function logged(entry: object) {
    const { response } = await rekor.fn(JSON.stringify(entry));
    const [made] = Object.values(JSON.parse(String(response))) as {
      body: string;
      integratedTime: number;
      logID: string;
      logIndex: number;
      verification: { signedEntryTimestamp: string; inclusionProof: { checkpoint: string; rootHash: string } };
    }[];
    if (made === undefined) throw new Error('the log made no entry');
    return made;
  }
  async function stamped(signature: Buffer): Promise<string> {
    const artifactHash = Buffer.from(sha256(signature), 'hex').toString('base64');
    const { response } = await timestamps.fn(
      JSON.stringify({ artifactHash, hashAlgorithm: 'sha256', certificates: true }),
    );
    return Buffer.from(response as Uint8Array).toString('base64');
  }
  return { root: JSON.stringify(root), hasLogs, certificate, logged, stamped };
}

export type Sigstore = Awaited<ReturnType<typeof openSigstore>>;

export interface MadeImage {
  readonly repository: string;
  readonly digest: string;
}

/** One layer and a configuration. */
export function makeImage(registry: TestRegistry, repository: string, tag: string, seed = tag): MadeImage {
  const layer = Buffer.from(`layer of ${repository} ${seed}`);
  const config = Buffer.from(
    JSON.stringify({ architecture: 'amd64', os: 'linux', rootfs: { type: 'layers', diff_ids: [] } }),
  );
  const descriptor = (bytes: Buffer, mediaType: string) => ({
    mediaType,
    digest: registry.putBlob(repository, bytes),
    size: bytes.length,
  });
  const digest = registry.putManifest(
    repository,
    {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: descriptor(config, 'application/vnd.oci.image.config.v1+json'),
      layers: [descriptor(layer, 'application/vnd.oci.image.layer.v1.tar')],
    },
    tag,
  );
  return { repository, digest };
}

/** An index of two images, for two architectures. */
export function makeIndex(registry: TestRegistry, repository: string, tag: string): MadeImage {
  const manifests = ['amd64', 'arm64'].map((architecture) => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: makeImage(registry, repository, `${tag}-${architecture}`).digest,
    size: 1,
    platform: { os: 'linux', architecture },
  }));
  const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests };
  return { repository, digest: registry.putManifest(repository, index, tag) };
}

const TYPE = 'application/vnd.in-toto+json';

export interface Attested extends MadeImage {
  /** Digest that the statement is about; absent: that of the image. */
  readonly about?: string;
  readonly predicateType?: string;
}

/** A bundle of an attestation: keyless, with a certificate, an entry of the log and its promise and proof of inclusion. */
export async function attestation(
  sigstore: Sigstore,
  identity: Identity,
  { digest, about = digest, predicateType = SLSA }: Attested,
) {
  const { publicKey, privateKey } = pair();
  const subject = [{ name: 'image', digest: { sha256: about.slice('sha256:'.length) } }];
  const payload = Buffer.from(
    JSON.stringify({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate: {} }),
  );
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${TYPE.length} ${TYPE} ${payload.length} `), payload]);
  const signature = sign('sha256', signed, privateKey);
  const leaf = await sigstore.certificate(publicKey, identity);
  const entry = await sigstore.logged({
    apiVersion: '0.0.1',
    kind: 'dsse',
    spec: {
      envelopeHash: { algorithm: 'sha256', value: sha256('envelope') },
      payloadHash: { algorithm: 'sha256', value: sha256(payload) },
      signatures: [{ signature: signature.toString('base64'), verifier: Buffer.from(leaf).toString('base64') }],
    },
  });
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: {
      certificate: { rawBytes: leaf.replace(/-----[^-]+-----|\s/g, '') },
      tlogEntries: sigstore.hasLogs ? [logEntry(entry, 'dsse')] : [],
      ...(sigstore.hasLogs
        ? {}
        : {
            timestampVerificationData: { rfc3161Timestamps: [{ signedTimestamp: await sigstore.stamped(signature) }] },
          }),
    },
    dsseEnvelope: {
      payload: payload.toString('base64'),
      payloadType: TYPE,
      signatures: [{ sig: signature.toString('base64'), keyid: '' }],
    },
  };
}

function logEntry(entry: Awaited<ReturnType<Sigstore['logged']>>, kind: string) {
  const { inclusionProof, signedEntryTimestamp } = entry.verification;
  return {
    logIndex: String(entry.logIndex),
    logId: { keyId: Buffer.from(entry.logID, 'hex').toString('base64') },
    kindVersion: { kind, version: '0.0.1' },
    integratedTime: String(entry.integratedTime),
    inclusionPromise: { signedEntryTimestamp },
    inclusionProof: {
      logIndex: '0',
      rootHash: Buffer.from(inclusionProof.rootHash, 'hex').toString('base64'),
      treeSize: '1',
      hashes: [],
      checkpoint: { envelope: inclusionProof.checkpoint },
    },
    canonicalizedBody: entry.body,
  };
}

const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const EMPTY = Buffer.from('{}');

/** Attaches a bundle to an image by `subject`, and for registries without the API by the tag that stands for it. */
export function attach(registry: TestRegistry, { repository, digest }: MadeImage, bundle: object): string {
  const bytes = Buffer.from(JSON.stringify(bundle));
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: BUNDLE,
    config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: registry.putBlob(repository, EMPTY), size: 2 },
    layers: [{ mediaType: BUNDLE, digest: registry.putBlob(repository, bytes), size: bytes.length }],
    subject: { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: 1 },
  };
  const attached = registry.putManifest(repository, manifest);
  if (!registry.hasReferrers) {
    const manifests = [{ mediaType: manifest.mediaType, digest: attached, size: 1, artifactType: BUNDLE }];
    const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests };
    registry.putManifest(repository, index, digest.replace(':', '-'));
  }
  return attached;
}

/** As `cosign sign` has kept signatures: under the tag `.sig`, by a key or by a certificate. */
export async function cosign(
  registry: TestRegistry,
  { repository, digest }: MadeImage,
  by: { readonly key: KeyObject } | { readonly sigstore: Sigstore; readonly identity: Identity },
  about = digest,
): Promise<void> {
  const critical = {
    identity: { 'docker-reference': '' },
    image: { 'docker-manifest-digest': about },
    type: 'cosign container image signature',
  };
  const payload = Buffer.from(JSON.stringify({ critical, optional: null }));
  const { publicKey, privateKey } = pair();
  const signature = sign('sha256', payload, 'key' in by ? by.key : privateKey).toString('base64');
  const annotations: Record<string, string> = { 'dev.cosignproject.cosign/signature': signature };
  if ('sigstore' in by) {
    const leaf = await by.sigstore.certificate(publicKey, by.identity);
    const entry = await by.sigstore.logged({
      apiVersion: '0.0.1',
      kind: 'hashedrekord',
      spec: {
        data: { hash: { algorithm: 'sha256', value: sha256(payload) } },
        signature: { content: signature, publicKey: { content: Buffer.from(leaf).toString('base64') } },
      },
    });
    const { body, integratedTime, logIndex, logID, verification } = entry;
    annotations['dev.sigstore.cosign/certificate'] = leaf;
    annotations['dev.sigstore.cosign/bundle'] = JSON.stringify({
      SignedEntryTimestamp: verification.signedEntryTimestamp,
      Payload: { body, integratedTime, logIndex, logID },
    });
  }
  const layer = {
    mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
    digest: registry.putBlob(repository, payload),
    size: payload.length,
    annotations,
  };
  const manifest = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json', layers: [layer] };
  registry.putManifest(repository, manifest, `${digest.replace(':', '-')}.sig`);
}
