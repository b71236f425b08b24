// Signs and verifies tokens of service accounts as a kube-apiserver does: JWTs of one issuer, with a key of the
// cluster.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  sign,
  verify,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import { writePrivately } from '../storage/private-file.ts';

/**
 * The issuer that kubeadm configures. The URL of an API server inside its cluster differs:
 * `https://kubernetes.default.svc`.
 */
export const CLUSTER_ISSUER = 'https://kubernetes.default.svc.cluster.local';

export const SIGNING_ALGORITHM = 'ES256';

export interface AccountSigner {
  /** The public keys as a JWK set (RFC 7517). */
  readonly keys: { readonly keys: readonly JsonWebKey[] };
  sign(claims: JsonObject): string;
  /** Returns the claims of a token that this key has signed. undefined for any other token. */
  verify(token: string): JsonObject | undefined;
}

/** Reads the key from the state directory, or creates it with mode 0600. */
export async function openSigner(dir: string): Promise<AccountSigner> {
  const file = join(dir, 'service-accounts.key');
  const pem = readIfPresent(file) ?? createKey();
  await writePrivately(file, pem);
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(pem);
  const kid = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  const jwk = { use: 'sig', kid, alg: SIGNING_ALGORITHM, ...publicKey.export({ format: 'jwk' }) };
  return {
    keys: { keys: [jwk] },
    sign(claims) {
      const text = `${partOf({ alg: SIGNING_ALGORITHM, kid })}.${partOf(claims)}`;
      const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return `${text}.${signature.toString('base64url')}`;
    },
    verify(token) {
      const [header = '', payload = '', signature = '', ...more] = token.split('.');
      if (more.length > 0 || readPart(header)?.kid !== kid || readPart(header)?.alg !== SIGNING_ALGORITHM)
        return undefined;
      const signed = Buffer.from(`${header}.${payload}`);
      const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
      return verify('sha256', signed, key, Buffer.from(signature, 'base64url')) ? readPart(payload) : undefined;
    },
  };
}

function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function partOf(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function readPart(part: string): JsonObject | undefined {
  const value = parseJson(Buffer.from(part, 'base64url').toString());
  return isObject(value) ? value : undefined;
}
