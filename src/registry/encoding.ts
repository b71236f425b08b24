// Which form of a body a client takes (RFC 9110 section 12.5.3), and that form. Knows nothing about what bodies hold.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const zip = promisify(gzip);

/** Of smaller bodies the packed form is no shorter than a packet either. */
const PACKED_BYTES_MIN = 1024;

/** `acceptEncoding`: the header. No header takes nothing packed; a weight of zero refuses. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const weights = new Map((acceptEncoding ?? '').toLowerCase().split(',').map(readCoding));
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

function readCoding(text: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = text.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length);
  return [coding, weight === undefined ? 1 : Number(weight)];
}

/** The body as gzip, or undefined where that is not worth it. */
export async function packed(body: Buffer): Promise<Buffer | undefined> {
  return body.length < PACKED_BYTES_MIN ? undefined : await zip(body);
}
