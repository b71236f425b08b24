// Creates X.509 v3 certificates (RFC 5280) with ECDSA P-256 keys.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { isIPv4 } from 'node:net';
import {
  bitString,
  booleanTrue,
  encodeInteger,
  explicitTag,
  implicitTag,
  objectIdentifier,
  octetString,
  sequence,
  set,
  smallInteger,
  time,
  utf8String,
} from './der.ts';

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/** Bits of KeyUsage (RFC 5280 section 4.2.1.3). The first bit is the most significant. */
const USAGE = { digitalSignature: 0x80, keyCertSign: 0x04, crlSign: 0x02 } as const;

export interface CertifiedKey {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

export interface Validity {
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export function createAuthority(commonName: string, validity: Validity): CertifiedKey {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const extensions = [
    extension(OID.basicConstraints, sequence(booleanTrue()), 'critical'),
    extension(OID.keyUsage, keyUsage(USAGE.digitalSignature | USAGE.keyCertSign | USAGE.crlSign), 'critical'),
    extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(keys.publicKey))),
  ];
  const issuer = { name: commonName, key: keys.privateKey };
  return certify({ issuer, subject: commonName, subjectKeys: keys, validity, extensions });
}

/** Creates a certificate for a server, signed by the authority. `hosts` are host names and IPv4 addresses. */
export function createServerCertificate(
  authority: CertifiedKey,
  authorityName: string,
  hosts: readonly string[],
  validity: Validity,
): CertifiedKey {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuerKey = createPublicKey(authority.certificate);
  const extensions = [
    extension(OID.basicConstraints, sequence(), 'critical'),
    extension(OID.keyUsage, keyUsage(USAGE.digitalSignature), 'critical'),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID.serverAuth))),
    extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(keys.publicKey))),
    extension(OID.authorityKeyIdentifier, sequence(implicitTag(0, keyIdentifier(issuerKey)))),
    extension(OID.subjectAltName, sequence(...hosts.map(generalName))),
  ];
  const issuer = { name: authorityName, key: createPrivateKey(authority.privateKey) };
  return certify({ issuer, subject: hosts[0] ?? authorityName, subjectKeys: keys, validity, extensions });
}

interface Certification {
  readonly issuer: { readonly name: string; readonly key: KeyObject };
  readonly subject: string;
  readonly subjectKeys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
}

function certify({ issuer, subject, subjectKeys, validity, extensions }: Certification): CertifiedKey {
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const toBeSigned = sequence(
    explicitTag(0, smallInteger(2)),
    encodeInteger(randomBytes(16)),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(validity.notBefore), time(validity.notAfter)),
    distinguishedName(subject),
    subjectKeys.publicKey.export({ type: 'spki', format: 'der' }),
    explicitTag(3, sequence(...extensions)),
  );
  const signature = sign('sha256', toBeSigned, { key: issuer.key, dsaEncoding: 'der' });
  return {
    certificate: pem('CERTIFICATE', sequence(toBeSigned, algorithm, bitString(signature))),
    privateKey: subjectKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function distinguishedName(commonName: string): Buffer {
  return sequence(set(sequence(objectIdentifier(OID.commonName), utf8String(commonName))));
}

function extension(oid: string, value: Buffer, critical?: 'critical'): Buffer {
  const flag = critical === undefined ? [] : [booleanTrue()];
  return sequence(objectIdentifier(oid), ...flag, octetString(value));
}

function keyUsage(bits: number): Buffer {
  let unusedBits = 0;
  while (((bits >> unusedBits) & 1) === 0) unusedBits += 1;
  return bitString(Buffer.from([bits]), unusedBits);
}

/**
 * Returns the SHA-1 of the public key's bits (RFC 5280 section 4.2.1.2, method 1). SHA-1 serves only as an identifier
 * here.
 */
function keyIdentifier(key: KeyObject): Buffer {
  const point = key.export({ type: 'spki', format: 'der' }).subarray(-65);
  return createHash('sha1').update(point).digest();
}

/** Encodes a GeneralName: dNSName [2] or iPAddress [7]. */
function generalName(host: string): Buffer {
  return isIPv4(host)
    ? implicitTag(7, Buffer.from(host.split('.').map(Number)))
    : implicitTag(2, Buffer.from(host, 'ascii'));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
