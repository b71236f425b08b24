// Reads and writes values in the format of SSH (RFC 4251 section 5).

export interface WireReader {
  uint32(): number;
  byte(): number;
  /** Reads a length and that many bytes. */
  bytes(): Buffer;
  text(): string;
  /** Reads a positive number of any size. The bytes have no leading zeros. */
  magnitude(): Buffer;
  /** Throws if bytes are left over. */
  end(): void;
}

/** Reads values in turn; every method throws an Error if the bytes end too soon. */
export function readWire(source: Buffer): WireReader {
  let at = 0;
  function take(length: number): Buffer {
    if (at + length > source.length) throw new Error('ends too soon');
    at += length;
    return source.subarray(at - length, at);
  }
  const uint32 = () => take(4).readUInt32BE(0);
  const bytes = () => take(uint32());
  return {
    uint32,
    bytes,
    byte: () => take(1).readUInt8(0),
    text: () => bytes().toString('utf8'),
    magnitude: () => {
      const number = bytes();
      const first = number.findIndex((byte) => byte !== 0);
      return number.subarray(first < 0 ? number.length : first);
    },
    end: () => {
      if (at !== source.length) throw new Error('has more than it should');
    },
  };
}

/** Returns the length of the bytes, followed by the bytes. */
export function wireBytes(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
