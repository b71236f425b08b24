import { expect, test } from 'vitest';
import {
  bitString,
  encodeInteger,
  explicitTag,
  objectIdentifier,
  octetString,
  sequence,
  time,
  utf8String,
} from './der.ts';

const rows: readonly { reason: string; made: Buffer; hex: string }[] = [
  { reason: 'an integer loses leading zeros', made: encodeInteger(Buffer.from([0, 0, 5])), hex: '020105' },
  {
    reason: 'an integer whose first bit is set gets a zero before it',
    made: encodeInteger(Buffer.from([0x80])),
    hex: '02020080',
  },
  { reason: 'zero keeps one byte', made: encodeInteger(Buffer.from([0, 0])), hex: '020100' },
  {
    reason: 'arcs above 127 take several bytes',
    made: objectIdentifier('1.2.840.10045.4.3.2'),
    hex: '06082a8648ce3d040302',
  },
  {
    reason: 'a bit string contains the number of unused bits',
    made: bitString(Buffer.from([0x86]), 1),
    hex: '03020186',
  },
  { reason: 'a text is UTF-8', made: utf8String('ü'), hex: '0c02c3bc' },
  { reason: 'an explicit tag contains the complete element', made: explicitTag(3, sequence()), hex: 'a3023000' },
  {
    reason: 'a time through 2049 is UTCTime',
    made: time(Date.UTC(2049, 11, 31, 23, 59, 59)),
    hex: `170d${Buffer.from('491231235959Z').toString('hex')}`,
  },
  {
    reason: 'a later time is GeneralizedTime',
    made: time(Date.UTC(2050, 0, 1)),
    hex: `180f${Buffer.from('20500101000000Z').toString('hex')}`,
  },
];

test.each(rows)('$reason', ({ made, hex }) => {
  expect(made.toString('hex')).toBe(hex);
});

test('lengths from 128 on are written in the long form', () => {
  expect(octetString(Buffer.alloc(127)).subarray(0, 2).toString('hex')).toBe('047f');
  expect(octetString(Buffer.alloc(128)).subarray(0, 3).toString('hex')).toBe('048180');
  expect(octetString(Buffer.alloc(300)).subarray(0, 4).toString('hex')).toBe('0482012c');
});
