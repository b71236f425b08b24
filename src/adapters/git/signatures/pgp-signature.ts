// Verifies OpenPGP signatures (RFC 9580) of commits and tags. The library is an optional package under the LGPL and is
// loaded only if an OpenPGP key is configured.

import type { PublicKey } from 'openpgp';

export type PgpKey = PublicKey;

const PGP_SIGNATURE = '-----BEGIN PGP SIGNATURE-----';
const ARMOR = /-----BEGIN PGP PUBLIC KEY BLOCK-----[\s\S]*?-----END PGP PUBLIC KEY BLOCK-----/g;

export function isPgpSignature(armored: string): boolean {
  return armored.startsWith(PGP_SIGNATURE);
}

/**
 * Parses a key file written by `gpg --export`, with or without `--armor`. Throws an Error if the file has no key or the
 * library is not installed.
 */
export async function readPgpKeys(bytes: Buffer): Promise<readonly PgpKey[]> {
  const { readKeys } = await loadLibrary();
  const armored = bytes.toString('latin1').match(ARMOR);
  const lists = await Promise.all(
    armored === null ? [readKeys({ binaryKeys: bytes })] : armored.map((armoredKeys) => readKeys({ armoredKeys })),
  );
  const keys = lists.flat();
  if (keys.some((key) => key.isPrivate())) throw new Error('it holds a private key, which belongs elsewhere');
  return keys.map((key) => key.toPublic());
}

export type PgpResult =
  | { readonly type: 'good' }
  /** The signature was made by a key that is not trusted. */
  | { readonly type: 'stranger'; readonly keyId: string }
  | { readonly type: 'bad'; readonly reason: string };

function loadLibrary(): Promise<typeof import('openpgp')> {
  return import('openpgp').catch((cause: unknown) => {
    const message =
      'OpenPGP keys need the optional package openpgp, which is not installed: npm ci without --omit=optional';
    throw new Error(message, { cause });
  });
}

/** Verifies a signature. Keys must be valid at the time of the signature, so later expiry does not invalidate it. */
export async function checkPgpSignature(
  armoredSignature: string,
  payload: Buffer,
  keys: readonly PgpKey[],
): Promise<PgpResult> {
  const { createMessage, readSignature, verify } = await loadLibrary();
  const signature = await readSignature({ armoredSignature }).catch((error: unknown) => String(error));
  if (typeof signature === 'string') return { type: 'bad', reason: signature };
  const message = await createMessage({ binary: payload });
  const { signatures } = await verify({ message, signature, verificationKeys: [...keys] });
  const [only] = signatures;
  if (only === undefined || signatures.length > 1) return { type: 'bad', reason: `${signatures.length} signatures` };
  const keyId = only.keyID.toHex();
  if (!keys.some((key) => key.getKeys(only.keyID).length > 0)) return { type: 'stranger', keyId };
  return await only.verified.then(
    (): PgpResult => ({ type: 'good' }),
    (error: unknown) => ({ type: 'bad', reason: error instanceof Error ? error.message : String(error) }),
  );
}
