// Verifies signatures of `ssh-keygen -Y sign` (OpenSSH's PROTOCOL.sshsig), which git also uses.

import { createHash } from 'node:crypto';
import { verifiesSsh } from './ssh-key.ts';
import { readWire, wireBytes } from './ssh-wire.ts';

const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';
const MAGIC = Buffer.from('SSHSIG');
/** Purpose of git's signatures. A signature for a file or a login is not valid for a commit. */
export const GIT_NAMESPACE = 'git';

export function isSshSignature(armored: string): boolean {
  return armored.startsWith(BEGIN);
}

export interface SshResult {
  readonly good: boolean;
  /** The public key in the signature, in the binary form of a `.pub` file. */
  readonly publicKey: Buffer;
}

/** Throws an Error with the reason if the signature cannot be checked. */
export function checkSshSignature(armored: string, payload: Buffer, purpose = GIT_NAMESPACE): SshResult {
  const blob = dearmored(armored);
  if (!blob.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('it does not begin as a signature does');
  const wire = readWire(blob.subarray(MAGIC.length));
  const version = wire.uint32();
  if (version !== 1) throw new Error(`it has version ${version}`);
  const publicKey = wire.bytes();
  const namespace = wire.text();
  const reserved = wire.bytes();
  const hash = wire.text();
  const signature = wire.bytes();
  wire.end();
  if (namespace !== purpose) throw new Error(`it was made for "${namespace}", not for ${purpose}`);
  if (hash !== 'sha256' && hash !== 'sha512') throw new Error(`its hash is ${hash}`);
  const digest = createHash(hash).update(payload).digest();
  const signed = [namespace, reserved, hash, digest].map(wireBytes);
  return { publicKey, good: verifiesSsh(publicKey, signature, Buffer.concat([MAGIC, ...signed])) };
}

function dearmored(armored: string): Buffer {
  const end = armored.indexOf(END);
  if (end < 0 || armored.slice(end + END.length).trim() !== '') throw new Error('its armor does not end');
  return Buffer.from(armored.slice(BEGIN.length, end), 'base64');
}
