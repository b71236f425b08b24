// Verifies Sigstore bundles offline with a trusted root and public keys: signature, certificate, log entry and
// timestamps.

import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Bundle } from '@sigstore/bundle';
import type { Signer, TrustMaterial } from '@sigstore/verify';
import type { ImageSignature } from '#reconciler/run/images/ports.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from '#std/json.ts';
import { lazyPackage } from '#std/lazy-package.ts';

const verifyPackage = lazyPackage<typeof import('@sigstore/verify')>('@sigstore/verify');
const bundlePackage = lazyPackage<typeof import('@sigstore/bundle')>('@sigstore/bundle');
const specsPackage = lazyPackage<typeof import('@sigstore/protobuf-specs')>('@sigstore/protobuf-specs');

interface TrustedKeys {
  readonly file: string;
  readonly keys: readonly KeyObject[];
}

export interface Trust {
  /** Equal for equal roots and keys. */
  readonly id: string;
  readonly material: TrustMaterial;
  readonly keys: readonly TrustedKeys[];
}

/**
 * A bundle that claims to sign the image with this digest. `artifact` is the signed content if the bundle does not
 * contain it.
 */
export interface Claimed {
  readonly bundle: JsonObject;
  readonly artifact: Uint8Array;
  readonly digest: string;
}

/** Parses the root and the keys. `keyFiles`: file names and PEM texts. Throws Failure `image-trust`. */
export function readTrust(root: string, keyFiles: readonly (readonly [file: string, pem: string])[]): Trust {
  const { toTrustMaterial } = verifyPackage();
  const { TrustedRoot } = specsPackage();
  const content = parseJson(root);
  try {
    if (!isObject(content) || !Array.isArray(content.certificateAuthorities)) throw new TypeError('not a trusted root');
    const material = toTrustMaterial(TrustedRoot.fromJSON(content));
    const keys = keyFiles.map(([file, pem]) => ({ file, keys: publicKeys(file, pem) }));
    return { id: sha256(JSON.stringify([sha256(root), keyFiles])), material, keys };
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('image-trust', 'images.verify.trustedRoot is not a trusted root of Sigstore', { cause });
  }
}

const PEM_KEY = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

function publicKeys(file: string, pem: string): readonly KeyObject[] {
  try {
    const keys = (pem.match(PEM_KEY) ?? []).map((text) => createPublicKey(text));
    if (keys.length > 0) return keys;
  } catch (cause) {
    throw new Failure('image-trust', `the file ${file} has a public key that cannot be read`, { cause });
  }
  throw new Failure('image-trust', `the file ${file} has no public key (PEM, "BEGIN PUBLIC KEY")`);
}

/** Returns the signature. If the bundle is not valid, returns the reason. */
export function checkBundle(
  { material, keys }: Trust,
  { bundle: json, artifact, digest }: Claimed,
): ImageSignature | string {
  try {
    const bundle = bundlePackage().bundleFromJSON(json);
    const about = subjectFault(bundle, digest);
    if (typeof about === 'string') return about;
    const { content } = bundle.verificationMaterial;
    return {
      ...(content.$case === 'publicKey'
        ? signedByKey(bundle, artifact, material, keys)
        : signedByCertificate(bundle, artifact, material)),
      ...about,
    };
  } catch (error) {
    return `a signature that does not hold: ${sayWhy(error)}`;
  }
}

/** Errors of the packages have the reason in `cause`. */
function sayWhy(error: unknown): string {
  if (!(error instanceof Error)) return 'it cannot be read';
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`.slice(0, 300);
}

/**
 * Checks that an attestation is about the image. Other signatures sign the image's manifest or a payload with its
 * digest.
 */
function subjectFault({ content }: Bundle, digest: string): { readonly predicateType?: string } | string {
  if (content.$case !== 'dsseEnvelope') return {};
  const { payload, payloadType } = content.dsseEnvelope;
  const statement = parseJson(payload.toString('utf8'));
  if (payloadType !== 'application/vnd.in-toto+json' || !isObject(statement))
    return 'an attestation that is not one of in-toto';
  const { predicateType, subject } = statement;
  const isAbout = objectsIn(subject).some(
    (each) => isObject(each.digest) && `sha256:${String(each.digest.sha256)}` === digest,
  );
  if (!isAbout) return 'an attestation about another digest';
  return typeof predicateType === 'string' ? { predicateType } : 'an attestation without predicateType';
}

/**
 * Verifies a signature by a trusted key. Requires no log entry, because the key is trusted by configuration. An
 * existing entry must be valid.
 */
function signedByKey(
  bundle: Bundle,
  artifact: Uint8Array,
  material: TrustMaterial,
  all: readonly TrustedKeys[],
): ImageSignature {
  const { toSignedEntity, Verifier } = verifyPackage();
  let fault: unknown = new Error('no rule of the image names a key');
  for (const { file, keys } of all) {
    for (const publicKey of keys) {
      const only = { ...material, publicKey: () => ({ publicKey, validFor: () => true }) };
      try {
        const options = { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 };
        new Verifier(only, options).verify(toSignedEntity(bundle, Buffer.from(artifact)));
        return { keyFile: file };
      } catch (error) {
        fault = error;
      }
    }
  }
  throw fault;
}

/**
 * Verifies a signature by a certificate. Requires no log entries if the root has no logs, as for a Sigstore instance
 * with only a timestamp authority.
 */
function signedByCertificate(bundle: Bundle, artifact: Uint8Array, material: TrustMaterial): ImageSignature {
  const { toSignedEntity, Verifier } = verifyPackage();
  const options = {
    ctlogThreshold: material.ctlogs.length === 0 ? 0 : 1,
    tlogThreshold: material.tlogs.length === 0 ? 0 : 1,
    timestampThreshold: 1,
  };
  return signatureOf(new Verifier(material, options).verify(toSignedEntity(bundle, Buffer.from(artifact))));
}

/** Prefix of the extensions of Fulcio's certificates (fulcio, docs/oid-info.md). */
const FULCIO = '1.3.6.1.4.1.57264.1';
const RUNNER = 11;
const REPOSITORY = 12;
const REF = 14;

function signatureOf({ identity }: Signer): ImageSignature {
  const values = new Map((identity?.oids ?? []).map(({ oid, value }) => [oid?.id.join('.'), value]));
  const text = (number: number): string | undefined => {
    const value = values.get(`${FULCIO}.${number}`);
    return value === undefined ? undefined : utf8String(value);
  };
  const found = {
    identity: identity?.subjectAlternativeName,
    issuer: identity?.extensions?.issuer,
    repository: text(REPOSITORY),
    ref: text(REF),
    runner: text(RUNNER),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined && value !== ''));
}

/** Decodes a UTF8String of DER whose length has at most two bytes. */
function utf8String(der: Uint8Array): string | undefined {
  const [tag, first = 0, second = 0, third = 0] = der;
  if (tag !== 0x0c) return undefined;
  const [start, length] =
    first < 0x80 ? [2, first] : first === 0x81 ? [3, second] : first === 0x82 ? [4, second * 256 + third] : [0, -1];
  return length === der.length - start ? Buffer.from(der.subarray(start)).toString('utf8') : undefined;
}
