// Checks the text of a private SSH key: repairs line breaks that copying damaged, and explains why ssh could not use
// the key.

/** The text for ssh, or the reason why ssh cannot use it. */
export type KeyText =
  | { readonly type: 'usable'; readonly text: string }
  | { readonly type: 'locked' }
  | { readonly type: 'unreadable'; readonly reason: string };

/** First line of a key (RFC 7468, RFC 1421, OpenSSH's PROTOCOL.key). */
const PRIVATE_KEY = /^-----BEGIN ((?:OPENSSH|RSA|DSA|EC|ENCRYPTED) )?PRIVATE KEY-----$/;
const PUBLIC_KEY = /^(?:(?:sk-)?(?:ssh|ecdsa)-\S+ AAAA|-----BEGIN .*PUBLIC KEY-----$|---- BEGIN SSH2 PUBLIC KEY ----$)/;
const OPENSSH_MAGIC = 'openssh-key-v1\0';

/**
 * Repairs a key. ssh refuses a key with `\r`, with a leading blank line or without a final newline ("error in
 * libcrypto"). Secret stores and pasting cause these faults. White space around a line is never part of a key.
 */
export function readKeyText(raw: string): KeyText {
  const lines = raw.split(/\r\n|\r|\n/).map((line) => line.trim());
  const text = `${lines.join('\n').trim()}\n`;
  const begin = lines.findIndex((line) => PRIVATE_KEY.test(line));
  if (begin < 0) return { type: 'unreadable', reason: unreadableReason(text, lines) };
  return isLocked(lines.slice(begin)) ? { type: 'locked' } : { type: 'usable', text };
}

function unreadableReason(text: string, lines: readonly string[]): string {
  if (lines.some((line) => PUBLIC_KEY.test(line))) {
    return 'it holds a public key: name the file of the private key, without .pub';
  }
  if (text.startsWith('PuTTY-User-Key-File-')) {
    return 'it holds a key in the format of PuTTY: convert it (puttygen FILE -O private-openssh -o NEW)';
  }
  return 'it is not a private key: it has no line that consists of "-----BEGIN ... PRIVATE KEY-----"';
}

/** True if the key is encrypted. The first line must be the `BEGIN` line. */
function isLocked([first = '', ...lines]: readonly string[]): boolean {
  if (first.includes('ENCRYPTED')) return true;
  if (!first.includes('OPENSSH')) return lines.some((line) => /^Proc-Type:\s*4\s*,\s*ENCRYPTED$/.test(line));
  const end = lines.findIndex((line) => line.startsWith('-----END'));
  return cipherOf(Buffer.from(lines.slice(0, end < 0 ? undefined : end).join(''), 'base64')) !== 'none';
}

/**
 * Returns the name of the cipher, which follows the magic bytes and its length (PROTOCOL.key). Returns `none` for other
 * formats, for which ssh reports the error.
 */
function cipherOf(blob: Buffer): string {
  const at = OPENSSH_MAGIC.length;
  if (blob.length < at + 4 || blob.toString('latin1', 0, at) !== OPENSSH_MAGIC) return 'none';
  return blob.toString('latin1', at + 4, at + 4 + blob.readUInt32BE(at));
}
