// Decrypts documents that were encrypted together, and verifies the checksum over all their values. Refuses every
// document that SOPS refuses.

import { createHash } from 'node:crypto';
import { readSealed, type Sealed, unseal } from './cipher.ts';
import type { SopsCode } from './codes.ts';
import { countedScalar } from './go-scalar.ts';
import type { SopsMetadata } from './metadata.ts';
import { COMMENT, type PutIn } from './replace.ts';
import type { Leaf, SopsDocument } from './tree.ts';

export type Decrypted =
  | { readonly ok: true; readonly values: ReadonlyMap<SopsDocument, ReadonlyMap<string, PutIn>> }
  | {
      readonly ok: false;
      readonly code: SopsCode;
      readonly message: string;
      readonly document?: SopsDocument;
      readonly pointer?: string;
    };

/** A decrypted value, and its bytes in the checksum. */
type DecryptedValue =
  | { readonly ok: true; readonly value?: PutIn; readonly counted?: string }
  | { readonly ok: false; readonly message: string };

export function decryptTogether(
  documents: readonly SopsDocument[],
  metadata: SopsMetadata,
  key: Uint8Array,
): Decrypted {
  const checksum = createHash('sha512');
  // Separates the two kinds of checksums: over encrypted values, and over all values.
  if (metadata.macOnlyEncrypted) checksum.update(createHash('sha256').update('sops').digest());
  const values = new Map<SopsDocument, Map<string, PutIn>>();
  for (const document of documents) {
    const own = new Map<string, PutIn>();
    for (const leaf of document.leaves) {
      const read = readLeaf(leaf, metadata, key);
      if (!read.ok) return { ok: false, code: 'sops-invalid', message: read.message, document, pointer: leaf.pointer };
      if (read.value !== undefined) own.set(leaf.pointer, read.value);
      if (read.counted !== undefined) checksum.update(read.counted);
    }
    values.set(document, own);
  }
  const mac = readSealed(metadata.mac);
  const written = mac === undefined ? undefined : unseal(mac, key, metadata.lastModified);
  if (written === checksum.digest('hex').toUpperCase()) return { ok: true, values };
  const message =
    'Its checksum does not match: a value was changed, added or removed after it was encrypted. Change it with sops edit.';
  return { ok: false, code: 'sops-mac-mismatch', message };
}

function readLeaf(leaf: Leaf, { encrypts, macOnlyEncrypted }: SopsMetadata, key: Uint8Array): DecryptedValue {
  const { path, text, plain, tag } = leaf;
  const sealed = readSealed(text);
  const expected = encrypts(path);
  if (expected === 'undecided') return { ok: false, message: 'The rule that selects encrypted values takes too long.' };
  if (sealed !== undefined) {
    if (expected === 'clear')
      return { ok: false, message: 'This is ciphertext at a place that its rules do not encrypt.' };
    return readOpened(sealed, unseal(sealed, key, `${path.join(':')}:`));
  }
  const counted = countedScalar(text, plain, tag);
  if (counted === undefined) return { ok: true };
  if ('refused' in counted) return { ok: false, message: 'SOPS would not have written a value like this.' };
  if (expected === 'encrypted' && counted.text !== '') {
    return { ok: false, message: 'This value is not encrypted, but its rules encrypt it: encrypt it with sops edit.' };
  }
  return macOnlyEncrypted ? { ok: true } : { ok: true, counted: counted.text };
}

const WRONG_PLACE = 'This value cannot be decrypted: it was changed, or moved here from elsewhere.';
const WRONG_TYPE = 'This value was encrypted as another type.';

/** Texts that Go's ParseBool accepts. */
const TRUES = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSES = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function readOpened({ type }: Sealed, text: string | undefined): DecryptedValue {
  if (text === undefined) return { ok: false, message: WRONG_PLACE };
  switch (type) {
    case 'comment':
      return { ok: true, value: COMMENT };
    case 'str':
    case 'bytes':
    case 'time':
      return { ok: true, value: text, counted: text };
    case 'bool':
      if (TRUES.has(text)) return { ok: true, value: true, counted: 'True' };
      return FALSES.has(text) ? { ok: true, value: false, counted: 'False' } : { ok: false, message: WRONG_TYPE };
    case 'int': {
      const value = /^[-+]?\d{1,19}$/.test(text) ? Number(text) : Number.NaN;
      if (!Number.isSafeInteger(value))
        return { ok: false, message: 'An integer beyond 2^53 would be rounded: quote it.' };
      return { ok: true, value, counted: String(value) };
    }
    case 'float': {
      const value = Number(text);
      return Number.isFinite(value) ? { ok: true, value, counted: text } : { ok: false, message: WRONG_TYPE };
    }
  }
}
