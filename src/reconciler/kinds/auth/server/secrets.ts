// Checks whether an embedded authorization server can use the contents of its Secrets. Messages contain no secrets.

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { secretBytes } from '#kubernetes/rules/content.ts';
import type { Finding, View } from '../../kind.ts';
import type { AuthServer } from './providers.ts';
import type { SecretKeyName } from './references.ts';

/** Finds contents with which the server would not start. */
export function authServerSecretFindings(config: AuthServer, pointer: string, view: View): readonly Finding[] {
  return [
    ...held(config.signingKeySecretRefs, `${pointer}/signingKeySecretRefs`, view, signingKeyFault),
    ...held(config.hmacSecretRefs, `${pointer}/hmacSecretRefs`, view, hmacFault),
    ...(config.delegateClients ?? []).flatMap(({ clientSecretRef }, index) => {
      return held([clientSecretRef], `${pointer}/delegateClients/${index}/clientSecretRef`, view, emptyFault);
    }),
  ];
}

function held(
  refs: readonly SecretKeyName[] | undefined,
  pointer: string,
  view: View,
  faultOf: (value: Buffer) => string | undefined,
): readonly Finding[] {
  return (refs ?? []).flatMap(({ name, key }, index): readonly Finding[] => {
    const value = secretBytes(view.find('Secret', name), key);
    const fault = value === undefined ? undefined : faultOf(value);
    if (fault === undefined) return [];
    const message = `key ${key} of Secret ${name} ${fault}`;
    return [{ code: 'auth-server-secret-unusable', severity: 'error', pointer: `${pointer}/${index}`, message }];
  });
}

const HMAC_BYTES = 32;
const RSA_BITS = 2048;

function emptyFault(value: Buffer): string | undefined {
  return value.toString('latin1').trim() === '' ? 'is empty' : undefined;
}

function hmacFault(value: Buffer): string | undefined {
  const { length } = Buffer.from(value.toString('latin1').trim(), 'latin1');
  return length < HMAC_BYTES ? `has ${length} bytes: it needs at least ${HMAC_BYTES}` : undefined;
}

function signingKeyFault(value: Buffer): string | undefined {
  const key = privateKey(value);
  if (key === undefined) return 'is not a private key in PEM without a passphrase';
  const { modulusLength } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return (modulusLength ?? 0) < RSA_BITS ? `is an RSA key of less than ${RSA_BITS} bits` : undefined;
    case 'ec':
    case 'ed25519':
      return undefined;
    default:
      return 'is not an RSA, EC or Ed25519 key';
  }
}

function privateKey(pem: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    // OpenSSL's messages do not help an author, and may contain a part of the key.
    return undefined;
  }
}
