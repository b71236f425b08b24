// Opens SOPS documents that are encrypted with age: decrypts the values and verifies the checksum. Documents that were
// encrypted together are opened together.

import { sha256 } from '../hash.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../json.ts';
import { readDocuments } from '../yaml/yaml.ts';
import type { AgeKeys } from './age-keys.ts';
import { readSealed, type Sealed, type SealedType } from './cipher.ts';
import type { SopsCode } from './codes.ts';
import { openDataKey } from './data-key.ts';
import { decryptTogether } from './decrypt.ts';
import { readMetadata } from './metadata.ts';
import { COMMENT, type PutIn, replaced } from './replace.ts';
import { type Leaf, type SopsDocument, sopsDocuments } from './tree.ts';

export interface SopsFault {
  readonly code: SopsCode;
  readonly message: string;
  /** JSON pointer into the document as written. */
  readonly pointer: string;
}

/** Result for an encrypted document. All fields are JSON, so that caches can store the result. */
export interface Opening {
  /**
   * Value without `sops`. If the document is not open, placeholders of the right types replace encrypted values.
   * Different ciphertexts have different placeholders.
   */
  readonly value: Json;
  readonly open: boolean;
  /** Pointers into `value` of all values that are or were encrypted. */
  readonly sealed: readonly string[];
  /**
   * Pointers, in the document as written, of list items that SOPS treats as comments. `value` does not contain these
   * items.
   */
  readonly comments: readonly string[];
  /** Why the document is not open. Absent if it is open, or if no keys were requested. */
  readonly fault?: SopsFault;
}

/** The keys, or why no keys exist. */
export type SopsKeys =
  | { readonly type: 'keys'; readonly keys: AgeKeys }
  | { readonly type: 'none'; readonly fault?: Omit<SopsFault, 'pointer'> };

/**
 * Returns a result for each document that is not empty, in order. The result is undefined for a document that is not
 * encrypted.
 */
export async function openDocuments(text: string, keys: SopsKeys): Promise<readonly (Opening | undefined)[]> {
  const documents = sopsDocuments(text);
  if (documents === undefined) return readDocuments(text, '').map(() => UNREADABLE);
  const openings = new Map<SopsDocument, Opening>();
  for (const document of documents.filter(({ sops }) => sops === undefined)) {
    const left = sealedLeaves(document)[0];
    if (left === undefined) continue;
    const message = 'This is SOPS ciphertext, and the document has no sops part that says how to open it.';
    openings.set(document, closed(document, { code: 'sops-metadata-missing', message, pointer: left.pointer }));
  }
  const together = Map.groupBy(
    documents.filter(({ sops }) => sops !== undefined),
    ({ sops }) => canonicalJson(sops),
  );
  for (const group of together.values()) {
    for (const [document, opening] of await openTogether(group, keys)) openings.set(document, opening);
  }
  return documents.map((document) => (document.value === undefined ? UNREADABLE : openings.get(document)));
}

/**
 * Result for an unreadable document. Even the identity of its object is uncertain, because a parser with another depth
 * limit may read it.
 */
const UNREADABLE: Opening = {
  value: null,
  open: false,
  sealed: ['/kind'],
  comments: [],
  fault: {
    code: 'sops-invalid',
    message: 'The document cannot be read, so nothing in it can be decrypted.',
    pointer: '',
  },
};

async function openTogether(
  documents: readonly SopsDocument[],
  keys: SopsKeys,
): Promise<readonly (readonly [SopsDocument, Opening])[]> {
  function refused({ code, message }: Omit<SopsFault, 'pointer'>, of?: SopsDocument, pointer = '/sops') {
    return documents.map(
      (each) => [each, closed(each, { code, message, pointer: each === of ? pointer : '/sops' })] as const,
    );
  }
  const metadata = readMetadata(documents[0]?.sops);
  if (!metadata.ok) return refused(invalidDocument(metadata.reason));
  const odd = documents.find(({ oddity }) => oddity !== undefined);
  if (odd?.oddity !== undefined) return refused(invalidDocument(odd.oddity.reason), odd, odd.oddity.pointer);
  if (keys.type === 'none') {
    return keys.fault === undefined ? documents.map((each) => [each, closed(each)]) : refused(keys.fault);
  }
  const dataKey = await openDataKey(metadata.metadata, keys.keys);
  if (!dataKey.ok) return refused(dataKey);
  const decrypted = decryptTogether(documents, metadata.metadata, dataKey.key);
  if (!decrypted.ok) return refused(decrypted, decrypted.document, decrypted.pointer);
  return documents.map((each) => {
    const values = decrypted.values.get(each) ?? new Map();
    const { value, at } = replaced(withoutSops(each), values);
    return [each, { value, open: true, sealed: at, comments: commentsOf(each) }];
  });
}

function invalidDocument(reason: string): Omit<SopsFault, 'pointer'> {
  return { code: 'sops-invalid', message: `This document does not have the form that SOPS writes: ${reason}.` };
}

function closed(document: SopsDocument, fault?: SopsFault): Opening {
  const standIns = new Map(
    sealedLeaves(document).map(({ pointer, type, text }): [string, PutIn] => [pointer, standInFor(type, text)]),
  );
  const { value, at } = replaced(withoutSops(document), standIns);
  const comments = commentsOf(document);
  return { value, open: false, sealed: at, comments, fault };
}

/**
 * Returns a placeholder. The text is valid base64, so it is valid for every text field in Kubernetes, and it identifies
 * the ciphertext.
 */
function standInFor(type: SealedType, text: string): PutIn {
  switch (type) {
    case 'comment':
      return COMMENT;
    case 'bool':
      return false;
    case 'int':
    case 'float':
      return 0;
    default:
      return sha256(text).slice(0, STAND_IN_LENGTH);
  }
}

/** A multiple of four, because four letters of base64 encode three bytes. */
const STAND_IN_LENGTH = 16;

function withoutSops({ value = null, sops }: SopsDocument): Json {
  if (sops === undefined || !isObject(value)) return value;
  const { sops: _, ...rest }: JsonObject = value;
  return rest;
}

function sealedLeaves({ leaves }: SopsDocument): (Pick<Leaf, 'pointer' | 'text'> & Pick<Sealed, 'type'>)[] {
  return leaves.flatMap(({ pointer, text }) => {
    const sealed = readSealed(text);
    return sealed === undefined ? [] : [{ pointer, text, type: sealed.type }];
  });
}

function commentsOf(document: SopsDocument): string[] {
  return sealedLeaves(document).flatMap(({ pointer, type }) => (type === 'comment' ? [pointer] : []));
}
