import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Coding, chooseCoding, pack } from './encoding.ts';

test.each<{ header: string | undefined; takes: Coding | undefined; reason: string }>([
  { header: undefined, takes: undefined, reason: 'no compression without the header' },
  { header: '', takes: undefined, reason: 'no compression for an empty header' },
  { header: 'gzip', takes: 'gzip', reason: 'named' },
  { header: 'gzip, deflate, br, zstd', takes: 'br', reason: 'the header of browsers' },
  { header: 'X-GZIP', takes: 'gzip', reason: 'an old name of gzip, in any letter case' },
  { header: 'br;q=1.0, gzip;q=0.2', takes: 'br', reason: 'the greater weight' },
  { header: 'br;q=0.1, gzip;q=0.2', takes: 'gzip', reason: 'gzip with the greater weight' },
  { header: 'br;q=0.1', takes: 'br', reason: 'a small weight permits a coding' },
  { header: 'gzip;q=0', takes: undefined, reason: 'a weight of zero refuses' },
  { header: 'gzip ; q=0.0 , *', takes: 'br', reason: 'a named coding has precedence over the star' },
  { header: 'br;q=0, *', takes: 'gzip', reason: 'the star matches all codings that are not named' },
  { header: '*', takes: 'br', reason: 'the star alone permits the smallest coding' },
  { header: '*;q=0', takes: undefined, reason: 'a star with weight zero refuses all codings' },
  { header: 'zstd', takes: undefined, reason: 'only an unsupported coding' },
  { header: 'identity', takes: undefined, reason: 'only the uncompressed form' },
  { header: 'gzip;q=much', takes: undefined, reason: 'an invalid weight refuses the coding' },
])('Accept-Encoding $header takes $takes: $reason', ({ header, takes }) => {
  expect(chooseCoding(header)).toBe(takes);
});

test.each([
  { coding: 'gzip', unpack: gunzipSync },
  { coding: 'br', unpack: brotliDecompressSync },
] as const)('compresses a large body with $coding, and leaves a small body', async ({ coding, unpack }) => {
  const large = Buffer.from('{"servers":[]}'.repeat(100));
  const short = await pack(large, coding);
  expect(short?.length).toBeLessThan(large.length);
  expect(unpack(short ?? '').equals(large)).toBe(true);
  expect(await pack(large.subarray(0, 1023), coding)).toBeUndefined();
});
