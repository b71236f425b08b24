// Reads private keys in the format of age-keygen, and decrypts texts with the keys.

import { digest } from '../hash.ts';
import type { AgeRecipient } from './metadata.ts';

export interface AgeKeys {
  /** Hash that identifies the keys without revealing them. Not secret, but should not be shown. */
  readonly digest: string;
  /** Decrypts the text for one of the recipients. Returns undefined if no key matches. */
  open(recipients: readonly AgeRecipient[]): Promise<Uint8Array | undefined>;
}

export type AgeKeysRead =
  | { readonly ok: true; readonly keys: AgeKeys }
  | { readonly ok: false; readonly reason: string };

const IDENTITY = /^AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]+$/;

/** Maximum length of an encrypted data key. Usual data keys have 400 characters, with post-quantum keys 2,500. */
const ENC_MAX = 16_384;

/** Reads one key per line. Empty lines and comments (`#`) are permitted. */
export async function readAgeKeys(text: string): Promise<AgeKeysRead> {
  const { identityToRecipient } = await import('age-encryption');
  const identities = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const identity = line.trim();
    if (identity === '' || identity.startsWith('#')) continue;
    if (!IDENTITY.test(identity))
      return { ok: false, reason: `line ${index + 1} is not an age key (AGE-SECRET-KEY-1...)` };
    const recipient = await unlessMalformed(() => identityToRecipient(identity));
    if (recipient === undefined) return { ok: false, reason: `line ${index + 1} is not a complete age key` };
    identities.set(recipient, identity);
  }
  if (identities.size === 0) return { ok: false, reason: 'it contains no key (AGE-SECRET-KEY-1...)' };
  return {
    ok: true,
    keys: {
      digest: digest([...identities.values()].toSorted()),
      open: (recipients) => openAny(identities, recipients),
    },
  };
}

/**
 * Tries only recipients that name one of the keys: a decryption takes milliseconds, and a document may have a million
 * recipients.
 */
async function openAny(
  identities: ReadonlyMap<string, string>,
  recipients: readonly AgeRecipient[],
): Promise<Uint8Array | undefined> {
  const { armor, Decrypter } = await import('age-encryption');
  for (const [own, identity] of identities) {
    const named = recipients.find(({ recipient }) => recipient.trim().toLowerCase() === own);
    if (named === undefined || named.enc.length > ENC_MAX) continue;
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    const opened = await unlessMalformed(() => decrypter.decrypt(armor.decode(named.enc)));
    if (opened !== undefined) return opened;
  }
  return undefined;
}

/** Returns undefined after an error: the library throws errors for wrong keys and for malformed files. */
async function unlessMalformed<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
