// Parses and serialises values in SSH's binary format (RFC 4251 section 5).

export interface WireReader {
  uint32(): number;
  byte(): number;
  /** Reads a length and that number of bytes. */
  bytes(): Buffer;
  text(): string;
  /** Reads a positive integer of any size. Returns its bytes without leading zeros. */
  magnitude(): Buffer;
  /** Throws if unread bytes remain. */
  end(): void;
}

/** Opens a reader. Every method throws an Error if too few bytes remain. */
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

/** Returns the bytes, preceded by their length. */
export function wireBytes(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
