// Compresses and decompresses the header blocks of one SPDY/3.1 connection. Each direction has one compression state
// and a dictionary (draft-mbelshe-httpbis-spdy-00 section 2.6.10).

import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import { SPDY_DICTIONARY } from './spdy-dictionary.ts';

export type SpdyHeaders = ReadonlyMap<string, string>;

export interface HeaderBlocks {
  /** Must be called in the order of the received frames. */
  unpack(block: Buffer): Promise<SpdyHeaders>;
  pack(headers: SpdyHeaders): Promise<Buffer>;
  close(): void;
}

const MAX_BYTES = 64 * 1024;

export function openHeaderBlocks(): HeaderBlocks {
  const inflate = createInflate({ dictionary: SPDY_DICTIONARY, maxOutputLength: MAX_BYTES });
  const deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
  return {
    unpack: async (block) => parseHeaders(await passThrough(inflate, block)),
    pack: (headers) => passThrough(deflate, formatHeaders(headers)),
    close() {
      inflate.close();
      deflate.close();
    },
  };
}

/** Writes the bytes to the stream and returns its complete output, after a flush. */
function passThrough(stream: Inflate | Deflate, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const take = (part: Buffer) => void parts.push(part);
    stream.on('data', take);
    stream.once('error', reject);
    stream.write(bytes);
    stream.flush(constants.Z_SYNC_FLUSH, () => {
      stream.off('data', take);
      stream.off('error', reject);
      resolve(Buffer.concat(parts));
    });
  });
}

function parseHeaders(block: Buffer): SpdyHeaders {
  const headers = new Map<string, string>();
  let at = 4;
  const text = (): string => {
    const length = block.readUInt32BE(at);
    at += 4 + length;
    return block.subarray(at - length, at).toString('latin1');
  };
  for (let left = block.readUInt32BE(0); left > 0; left -= 1) headers.set(text().toLowerCase(), text());
  return headers;
}

function formatHeaders(headers: SpdyHeaders): Buffer {
  const texts = [...headers].flat().flatMap((text) => [number32(text.length), Buffer.from(text, 'latin1')]);
  return Buffer.concat([number32(headers.size), ...texts]);
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
