// Parses public SSH keys (RFC 4253 section 6.6, RFC 5656, RFC 8709, OpenSSH's PROTOCOL.u2f) and verifies signatures
// with them.

import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { readWire, type WireReader } from './ssh-wire.ts';

interface SshKey {
  readonly key: KeyObject;
  /** Hashes by name of the signature algorithm. undefined if the algorithm itself hashes the message. */
  readonly algorithms: Readonly<Record<string, string | undefined>>;
  /** For elliptic curves: bytes per coordinate. A signature then consists of two numbers. */
  readonly width?: number;
  /** For keys of a security token: the application, which is part of the signed bytes. */
  readonly application?: string;
}

/** Minimum of NIST SP 800-131A. SHA-1 signatures (`ssh-rsa`) are not accepted either. */
const MIN_RSA_BITS = 2048;
const TOUCHED = 0x01;

const CURVES: Readonly<Record<string, { readonly crv: string; readonly width: number; readonly hash: string }>> = {
  nistp256: { crv: 'P-256', width: 32, hash: 'sha256' },
  nistp384: { crv: 'P-384', width: 48, hash: 'sha384' },
  nistp521: { crv: 'P-521', width: 66, hash: 'sha512' },
};

const TYPES: Readonly<Record<string, (wire: WireReader, type: string) => SshKey>> = {
  'ssh-ed25519': ed25519,
  'ssh-rsa': rsa,
  'ecdsa-sha2-nistp256': ecdsa,
  'ecdsa-sha2-nistp384': ecdsa,
  'ecdsa-sha2-nistp521': ecdsa,
  'sk-ssh-ed25519@openssh.com': (wire, type) => ({ ...ed25519(wire, type), application: wire.text() }),
  'sk-ecdsa-sha2-nistp256@openssh.com': (wire, type) => ({ ...ecdsa(wire, type), application: wire.text() }),
};

export function isKeyType(type: string): boolean {
  return TYPES[type] !== undefined;
}

/** Throws an Error with the reason if the key cannot be used. */
export function readSshKey(blob: Buffer): SshKey {
  const wire = readWire(blob);
  const type = wire.text();
  const read = TYPES[type];
  if (read === undefined) throw new Error(`keys of type ${type} are not supported`);
  const key = read(wire, type);
  wire.end();
  return key;
}

/** True if the key made the signature of the message. Throws an Error if the signature belongs to another key type. */
export function verifiesSsh(blob: Buffer, signature: Buffer, message: Buffer): boolean {
  const { key, algorithms, width, application } = readSshKey(blob);
  const wire = readWire(signature);
  const algorithm = wire.text();
  if (!Object.hasOwn(algorithms, algorithm)) throw new Error(`signatures of type ${algorithm} are not accepted`);
  const value = width === undefined ? wire.bytes() : twoNumbers(wire.bytes(), width);
  const signed = application === undefined ? message : tokenMessage(wire, application, message);
  wire.end();
  return verify(algorithms[algorithm] ?? null, signed, { key, dsaEncoding: 'ieee-p1363' }, value);
}

/**
 * Returns the bytes that a security token signs (PROTOCOL.u2f, SSH U2F Signatures): the hash of the application, a byte
 * of flags, a counter, and the hash of the message. Throws an Error if the flags say that the user did not touch the
 * token.
 */
function tokenMessage(wire: WireReader, application: string, message: Buffer): Buffer {
  const flags = wire.byte();
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(wire.uint32());
  if ((flags & TOUCHED) === 0) throw new Error('the security token was not touched');
  return Buffer.concat([sha256(application), Buffer.of(flags), counter, sha256(message)]);
}

function twoNumbers(bytes: Buffer, width: number): Buffer {
  const wire = readWire(bytes);
  const numbers = [wire.magnitude(), wire.magnitude()];
  wire.end();
  if (numbers.some((number) => number.length > width)) throw new Error('the signature is too long for the curve');
  return Buffer.concat(numbers.map((number) => Buffer.concat([Buffer.alloc(width - number.length), number])));
}

function ed25519(wire: WireReader, type: string): SshKey {
  const x = wire.bytes().toString('base64url');
  return { key: fromJwk({ kty: 'OKP', crv: 'Ed25519', x }), algorithms: { [type]: undefined } };
}

function rsa(wire: WireReader): SshKey {
  const e = wire.magnitude().toString('base64url');
  const n = wire.magnitude();
  if (n.length * 8 < MIN_RSA_BITS) throw new Error(`RSA keys of less than ${MIN_RSA_BITS} bits are not accepted`);
  const key = fromJwk({ kty: 'RSA', e, n: n.toString('base64url') });
  return { key, algorithms: { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' } };
}

function ecdsa(wire: WireReader, type: string): SshKey {
  const curve = CURVES[wire.text()];
  const point = wire.bytes();
  if (curve === undefined || point.length !== 1 + 2 * curve.width || point[0] !== 4)
    throw new Error('no point of a curve');
  const x = point.toString('base64url', 1, 1 + curve.width);
  const y = point.toString('base64url', 1 + curve.width);
  const key = fromJwk({ kty: 'EC', crv: curve.crv, x, y });
  return { key, algorithms: { [type]: curve.hash }, width: curve.width };
}

function fromJwk(key: JsonWebKey): KeyObject {
  return createPublicKey({ key, format: 'jwk' });
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
