import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { acceptsGzip, packed } from './encoding.ts';

test.each([
  { header: undefined, takes: false, reason: 'who asks for nothing gets it plain' },
  { header: '', takes: false, reason: 'an empty header takes nothing but the plain form' },
  { header: 'gzip', takes: true, reason: 'named' },
  { header: 'gzip, deflate, br, zstd', takes: true, reason: 'what browsers send' },
  { header: 'X-GZIP', takes: true, reason: 'an old name of it, in any case of letters' },
  { header: 'br;q=1.0, gzip;q=0.2', takes: true, reason: 'a small weight is one' },
  { header: 'gzip;q=0', takes: false, reason: 'a weight of zero refuses' },
  { header: 'gzip ; q=0.0 , *', takes: false, reason: 'what is named counts before the star' },
  { header: '*', takes: true, reason: 'the star stands for what is not named' },
  { header: '*;q=0', takes: false, reason: 'and refuses it' },
  { header: 'br', takes: false, reason: 'another one only' },
  { header: 'identity', takes: false, reason: 'the plain form only' },
  { header: 'gzip;q=much', takes: false, reason: 'a weight that is no number is none' },
])('Accept-Encoding $header takes gzip: $takes ($reason)', ({ header, takes }) => {
  expect(acceptsGzip(header)).toBe(takes);
});

test('a body is packed where that makes it shorter', async () => {
  const large = Buffer.from('{"servers":[]}'.repeat(100));
  const short = await packed(large);
  expect(short?.length).toBeLessThan(large.length);
  expect(gunzipSync(short ?? '').equals(large)).toBe(true);
  expect(await packed(large.subarray(0, 1023))).toBeUndefined();
});
