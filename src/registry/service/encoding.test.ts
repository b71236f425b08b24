import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Coding, chooseCoding, pack } from './encoding.ts';

test.each<{ header: string | undefined; takes: Coding | undefined; reason: string }>([
  { header: undefined, takes: undefined, reason: 'who asks for nothing gets it plain' },
  { header: '', takes: undefined, reason: 'an empty header takes nothing but the plain form' },
  { header: 'gzip', takes: 'gzip', reason: 'named' },
  { header: 'gzip, deflate, br, zstd', takes: 'br', reason: 'the header of browsers' },
  { header: 'X-GZIP', takes: 'gzip', reason: 'an old name of it, in any case of letters' },
  { header: 'br;q=1.0, gzip;q=0.2', takes: 'br', reason: 'the greater weight' },
  { header: 'br;q=0.1, gzip;q=0.2', takes: 'gzip', reason: 'the greater weight, the other way round' },
  { header: 'br;q=0.1', takes: 'br', reason: 'a small weight is one' },
  { header: 'gzip;q=0', takes: undefined, reason: 'a weight of zero refuses' },
  { header: 'gzip ; q=0.0 , *', takes: 'br', reason: 'a named coding counts before the star' },
  { header: 'br;q=0, *', takes: 'gzip', reason: 'the star stands for all codings that are not named' },
  { header: '*', takes: 'br', reason: 'the star alone takes the shortest' },
  { header: '*;q=0', takes: undefined, reason: 'and refuses it' },
  { header: 'zstd', takes: undefined, reason: 'another one only' },
  { header: 'identity', takes: undefined, reason: 'the plain form only' },
  { header: 'gzip;q=much', takes: undefined, reason: 'a weight that is not a number does not count' },
])('Accept-Encoding $header takes $takes: $reason', ({ header, takes }) => {
  expect(chooseCoding(header)).toBe(takes);
});

test.each([
  { coding: 'gzip', unpack: gunzipSync },
  { coding: 'br', unpack: brotliDecompressSync },
] as const)('a body is packed as $coding if that makes it shorter', async ({ coding, unpack }) => {
  const large = Buffer.from('{"servers":[]}'.repeat(100));
  const short = await pack(large, coding);
  expect(short?.length).toBeLessThan(large.length);
  expect(unpack(short ?? '').equals(large)).toBe(true);
  expect(await pack(large.subarray(0, 1023), coding)).toBeUndefined();
});
