// Manages the keys that sign access tokens. The first key signs, and all keys are published.

import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import type { JSONWebKeySet, JWK } from 'jose';
import { Failure } from '#std/failure.ts';
import type { IssuerPorts } from '../ports.ts';
import { createRing, type Ring } from './ring.ts';

type SigningAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA';

interface SigningKey {
  /** Id of the key: its thumbprint (RFC 7638). */
  readonly id: string;
  readonly algorithm: SigningAlgorithm;
  readonly privateKey: KeyObject;
  readonly published: JWK;
}

export interface SigningKeys {
  current(): SigningKey;
  /** Returns all public keys (RFC 7517). Returns the same object until the keys change. */
  published(): JSONWebKeySet;
}

const RSA_BITS_MIN = 2048;
const CURVES: Readonly<Record<string, SigningAlgorithm>> = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' };

/** Reads the keys. Without files, uses a new key that only this process knows. Throws Failure `issuer-key-invalid`. */
export function createSigningKeys(
  ports: Pick<IssuerPorts, 'files' | 'clock' | 'notify'>,
  paths: readonly string[],
): SigningKeys {
  const ring = createRing<SigningKey>(ports, {
    paths,
    parse: parseKey,
    invent: () => signingKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, 'a generated key'),
    code: 'issuer-key-invalid',
  });
  let shown: { readonly accepted: Ring<SigningKey>['accepted']; readonly keys: JSONWebKeySet } | undefined;
  return {
    current: () => ring().active,
    published() {
      const { accepted } = ring();
      if (shown?.accepted !== accepted)
        shown = { accepted, keys: { keys: accepted.map(({ published }) => published) } };
      return shown.keys;
    },
  };
}

/** Parses a private key in PEM, as PKCS #1, SEC 1 or PKCS #8. */
function parseKey(text: string, path: string): SigningKey {
  try {
    return signingKey(createPrivateKey(text), path);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw unusable(path, 'is not a private key in PEM', cause);
  }
}

function signingKey(privateKey: KeyObject, path: string): SigningKey {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  const algorithm = algorithmOf(privateKey, jwk, path);
  const id = thumbprint(jwk);
  return { id, algorithm, privateKey, published: { ...(jwk as JWK), alg: algorithm, use: 'sig', kid: id } };
}

function algorithmOf(key: KeyObject, { kty, crv }: { kty?: string; crv?: string }, path: string): SigningAlgorithm {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (kty === 'RSA' && bits >= RSA_BITS_MIN) return 'RS256';
  if (kty === 'RSA') throw unusable(path, `is an RSA key of ${bits} bits: at least ${RSA_BITS_MIN} are needed`);
  if (kty === 'OKP' && crv === 'Ed25519') return 'EdDSA';
  const algorithm = CURVES[crv ?? ''];
  if (kty === 'EC' && algorithm !== undefined) return algorithm;
  throw unusable(path, `is a key of kind ${kty} ${crv ?? ''}: RSA, P-256, P-384, P-521 and Ed25519 can sign`);
}

/** Returns the thumbprint of the required members, ordered by name (RFC 7638 section 3). */
function thumbprint(jwk: object): string {
  const members = Object.entries(jwk).filter(([name]) => ['crv', 'e', 'kty', 'n', 'x', 'y'].includes(name));
  const text = JSON.stringify(Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1))));
  return hash('sha256', text, 'base64url');
}

function unusable(path: string, what: string, cause?: unknown): Failure {
  return new Failure('issuer-key-invalid', `${path} ${what}`, { data: { path }, cause });
}
