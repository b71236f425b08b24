// Verifies that a trusted key signed a commit. Keys are read only from files.

import { readFile } from 'node:fs/promises';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { GitCode } from '../codes.ts';
import type { ObjectStore } from '../objects/objects.ts';
import { type CommitReference, type NameReference, TAG_PREFIX } from '../reference.ts';
import { checkPgpSignature, isPgpSignature, type PgpKey, readPgpKeys } from './pgp-signature.ts';
import { headerOf, type Signed, signedCommit, signedTag } from './signed.ts';
import { isKeyType, readSshKey } from './ssh-key.ts';
import { checkSshSignature, GIT_NAMESPACE, isSshSignature } from './ssh-signature.ts';

export interface VerifySettings {
  /** Objects that must be signed: the commit, the annotated tag through which it was reached, or both. */
  readonly mode: 'head' | 'tag' | 'both';
  /** Paths of files with OpenPGP keys, or with lines of `.pub` or allowed_signers files. */
  readonly keys: readonly string[];
}

interface ReferenceTip {
  readonly reference: NameReference | CommitReference;
  /** Object id of the reference: the commit, or the tag that points to it. */
  readonly tip: string;
  readonly commit: string;
}

export interface Trust {
  readonly digest: string;
  /**
   * Throws Failure `git-signature-missing`, `git-signature-untrusted` or `git-signature-invalid` if a required
   * signature is missing or not valid.
   */
  check(store: ObjectStore, found: ReferenceTip): Promise<void>;
}

/** Reads the keys again at each call, because mounted files change. Throws Failure `git-verify-keys-unusable`. */
export type ReadTrust = () => Promise<Trust>;

export function trustOf(settings: VerifySettings | undefined): ReadTrust {
  if (settings === undefined) return async () => ({ digest: '', check: async () => undefined });
  const { mode } = settings;
  return async () => {
    const files = await Promise.all(settings.keys.map(readKeyFile));
    const digest = sha256(JSON.stringify(files.map(({ bytes }) => sha256(bytes.toString('base64')))));
    const keys = await Promise.all(files.map(({ file, bytes }) => readKeyRing(file, bytes)));
    const ring = { ssh: keys.flatMap(({ ssh }) => ssh), pgp: keys.flatMap(({ pgp }) => pgp) };
    return {
      digest,
      async check(store, found) {
        if (mode !== 'head') await checkTag(store, ring, found);
        if (mode !== 'tag') await checkCommit(store, ring, found);
      },
    };
  };
}

interface KeyRing {
  readonly ssh: readonly Buffer[];
  readonly pgp: readonly PgpKey[];
}

async function checkCommit(store: ObjectStore, ring: KeyRing, { commit }: ReferenceTip): Promise<void> {
  const what = `commit ${commit}`;
  await checkSigned(ring, what, signedCommit(readContent(store, commit)));
}

/** Also checks the tag's signed name, so that an old release cannot be presented as a new release. */
async function checkTag(store: ObjectStore, ring: KeyRing, { reference, tip, commit }: ReferenceTip): Promise<void> {
  const name = reference.type === 'name' ? reference.name : undefined;
  if (name === undefined || !name.startsWith(TAG_PREFIX) || tip === commit) {
    throw signatureFailure('git-signature-missing', `commit ${commit} was not reached by an annotated tag`);
  }
  const content = readContent(store, tip);
  const says = headerOf(content, 'tag');
  const short = name.slice(TAG_PREFIX.length);
  if (says !== short) {
    throw signatureFailure('git-signature-invalid', `tag "${short}" was made under the name "${says ?? ''}"`);
  }
  await checkSigned(ring, `tag "${short}"`, signedTag(content));
}

async function checkSigned(ring: KeyRing, what: string, signed: Signed | undefined): Promise<void> {
  if (signed === undefined)
    throw signatureFailure('git-signature-missing', `${what} has no signature, or more than one`);
  const { signature, payload } = signed;
  if (isSshSignature(signature)) return checkSsh(ring, what, signature, payload);
  if (isPgpSignature(signature)) return checkPgp(ring, what, signature, payload);
  throw signatureFailure('git-signature-invalid', `${what} is signed in a way that is not known here (X.509, say)`);
}

function checkSsh({ ssh }: KeyRing, what: string, signature: string, payload: Buffer): void {
  const { good, publicKey } = orRefusal(what, () => checkSshSignature(signature, payload));
  if (!ssh.some((key) => key.equals(publicKey))) {
    throw signatureFailure(
      'git-signature-untrusted',
      `${what} is signed by an SSH key that is none of the trusted ones`,
    );
  }
  if (!good) throw signatureFailure('git-signature-invalid', `${what} does not match its signature`);
}

async function checkPgp({ pgp }: KeyRing, what: string, signature: string, payload: Buffer): Promise<void> {
  const checked = await checkPgpSignature(signature, payload, pgp);
  switch (checked.type) {
    case 'good':
      return;
    case 'stranger': {
      const message = `${what} is signed by OpenPGP key ${checked.keyId}, which is none of the trusted ones`;
      throw signatureFailure('git-signature-untrusted', message);
    }
    case 'bad':
      throw signatureFailure('git-signature-invalid', `${what}: the OpenPGP signature is not good: ${checked.reason}`);
  }
}

function orRefusal<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw signatureFailure('git-signature-invalid', `${what}: the SSH signature cannot be checked: ${reason}`, cause);
  }
}

function readContent(store: ObjectStore, oid: string): Buffer {
  const object = store.read(oid);
  if (object !== undefined) return object.content;
  throw new Failure('git-damaged', `object ${oid} is missing`, { data: { oid }, retryable: true });
}

/** Reads keys that may sign for the purpose. Throws Failure `git-verify-keys-unusable`. */
export async function readSshKeys(files: readonly string[], purpose: string): Promise<readonly Buffer[]> {
  const read = await Promise.all(files.map(readKeyFile));
  return read.flatMap(({ file, bytes }) => {
    try {
      const keys = sshKeysOf(bytes.toString('latin1'), purpose);
      if (keys.length === 0) throw new Error('it holds no key');
      return keys;
    } catch (cause) {
      throw unusableKeys(file, cause instanceof Error ? cause.message : String(cause), cause);
    }
  });
}

async function readKeyFile(file: string): Promise<{ file: string; bytes: Buffer }> {
  try {
    return { file, bytes: await readFile(file) };
  } catch (cause) {
    throw unusableKeys(file, 'it cannot be read', cause);
  }
}

async function readKeyRing(file: string, bytes: Buffer): Promise<KeyRing> {
  const text = bytes.toString('latin1');
  const isPgp = text.includes('-----BEGIN PGP') || (bytes[0] ?? 0) >= 0x80;
  try {
    const ring = isPgp ? { ssh: [], pgp: await readPgpKeys(bytes) } : { ssh: sshKeysOf(text, GIT_NAMESPACE), pgp: [] };
    if (ring.ssh.length + ring.pgp.length === 0) throw new Error('it holds no key');
    return ring;
  } catch (cause) {
    throw unusableKeys(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function sshKeysOf(text: string, purpose: string): Buffer[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => sshKeyOf(line, purpose));
}

/**
 * Parses a line `type base64 comment` of a `.pub` file, or this line after principals and options (ssh-keygen(1),
 * ALLOWED SIGNERS). Throws an Error for an unknown option, because the option may restrict the key.
 */
function sshKeyOf(line: string, purpose: string): Buffer {
  const words = line.split(/\s+/);
  const at = words.findIndex(isKeyType);
  const base64 = words[at + 1];
  if (at < 0 || base64 === undefined) throw new Error(`"${line.slice(0, 60)}" is not a public key of a known type`);
  const [, ...options] = words.slice(0, at);
  const strange = options.find((option) => option !== `namespaces="${purpose}"`);
  if (strange !== undefined) throw new Error(`option ${strange} of an allowed signer is not supported`);
  const blob = Buffer.from(base64, 'base64');
  readSshKey(blob);
  return blob;
}

function unusableKeys(file: string, reason: string, cause?: unknown): Failure {
  return new Failure('git-verify-keys-unusable', `${file}: ${reason}`, { data: { file }, cause });
}

function signatureFailure(code: GitCode, message: string, cause?: unknown): Failure {
  return new Failure(code, message, { cause });
}
