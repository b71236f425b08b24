// Encodes the ASN.1 values of X.509 certificates in DER (X.690).

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Encodes tag, length (definite form, X.690 section 8.1.3) and content. */
function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOctets(content.length), content]);
}

function lengthOctets(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Buffer.from([0x80 | octets.length, ...octets]);
}

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return element(TAG.sequence, Buffer.concat(items));
}

export function set(...items: readonly Uint8Array[]): Buffer {
  return element(TAG.set, Buffer.concat(items));
}

/** Encodes TRUE. FALSE is the default of every boolean in a certificate, so it is never encoded. */
export function booleanTrue(): Buffer {
  return element(TAG.boolean, Buffer.from([0xff]));
}

/** Encodes a non-negative INTEGER from its big-endian bytes, in the shortest form. */
export function encodeInteger(magnitude: Uint8Array): Buffer {
  let start = 0;
  while (start < magnitude.length - 1 && magnitude[start] === 0) start += 1;
  const shortest = magnitude.subarray(start);
  const negativeLooking = ((shortest[0] ?? 0) & 0x80) !== 0;
  return element(TAG.integer, negativeLooking ? Buffer.concat([Buffer.from([0]), shortest]) : shortest);
}

export function smallInteger(value: number): Buffer {
  return encodeInteger(Buffer.from([value]));
}

/** `unusedBits` is the number of unused bits at the end of the last byte. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(TAG.bitString, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

export function octetString(bytes: Uint8Array): Buffer {
  return element(TAG.octetString, bytes);
}

export function utf8String(text: string): Buffer {
  return element(TAG.utf8String, Buffer.from(text, 'utf8'));
}

/** Encodes an OBJECT IDENTIFIER from its dotted form. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAG.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): number[] {
  const octets = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) octets.unshift((rest % 128) | 0x80);
  return octets;
}

/** Encodes a Time by RFC 5280 section 4.1.2.5: UTCTime until 2049, GeneralizedTime later. */
export function time(epochMs: number): Buffer {
  const date = new Date(epochMs);
  const digits = date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14);
  return date.getUTCFullYear() < 2050
    ? element(TAG.utcTime, Buffer.from(`${digits.slice(2)}Z`, 'ascii'))
    : element(TAG.generalizedTime, Buffer.from(`${digits}Z`, 'ascii'));
}

/** Encodes an explicit tag `[number]` around complete elements. */
export function explicitTag(number: number, content: Uint8Array): Buffer {
  return element(0xa0 | number, content);
}

/** Encodes an implicit tag `[number]` of a primitive value. */
export function implicitTag(number: number, content: Uint8Array): Buffer {
  return element(0x80 | number, content);
}
