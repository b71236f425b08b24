// Verifies the detached signature of a file (`ssh-keygen -Y sign`) against trusted SSH keys.

import { readFile } from 'node:fs/promises';
import { Failure } from '#std/failure.ts';
import { checkSshSignature, isSshSignature } from './ssh-signature.ts';
import { readSshKeys } from './verify.ts';

export interface DetachedSettings {
  /** Purpose of the signature. Signatures for another purpose are invalid. */
  readonly namespace: string;
  /** Paths of public key files, with lines of `.pub` or allowed_signers files. */
  readonly keys: readonly string[];
}

/** Throws Failure `plan-signature-...` or `git-verify-keys-unusable`. */
export async function verifyDetached(
  file: string,
  content: Buffer,
  { namespace, keys }: DetachedSettings,
): Promise<void> {
  const trusted = await readSshKeys(keys, namespace);
  const signature = await signatureOf(`${file}.sig`);
  if (!isSshSignature(signature))
    throw new Failure('plan-signature-invalid', `${file}.sig is not a signature by an SSH key`);
  const { good, publicKey } = checkedSignature(file, signature, content, namespace);
  if (!trusted.some((key) => key.equals(publicKey))) {
    throw new Failure('plan-signature-untrusted', `${file} is signed by a key that is none of the trusted ones`);
  }
  if (!good) throw new Failure('plan-signature-invalid', `${file} does not match its signature`);
}

async function signatureOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'latin1');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('plan-signature-missing', `the signature cannot be read: ${reason}`, { cause });
  }
}

function checkedSignature(file: string, signature: string, content: Buffer, namespace: string) {
  try {
    return checkSshSignature(signature, content, namespace);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('plan-signature-invalid', `${file}.sig cannot be checked: ${reason}`, { cause });
  }
}
