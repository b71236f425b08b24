import { describe, expect, test } from 'vitest';
import { formatCheck } from './formats.ts';

/** Values that an API server (Kubernetes 1.36) accepts or refuses. */
const ROWS = [
  { format: 'bsonobjectid', accepted: ['507f1f77bcf86cd799439011'], refused: ['507f1f77bcf86cd79943901'] },
  {
    format: 'uri',
    accepted: ['https://a.b/c?d#e', '/path', 'mailto:a@b.c', 'http://[::1]:80/'],
    refused: ['a b', 'http://a:b:c/', '', 'relative/x'],
  },
  {
    format: 'email',
    accepted: ['a@b.c', 'Ann <a@b.c>', 'a@b', '"a b"@c.d'],
    refused: ['a', 'a@', '@b', 'a b@c.d', 'a@b@c'],
  },
  {
    format: 'hostname',
    accepted: ['a.example', 'a', 'a-b.example', 'é.example', 'A.COM', 'a-'],
    refused: [
      '-a.example',
      'a..b',
      '1.2.3.4',
      'a_b',
      'example.c',
      'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.com',
      'a.1',
      '',
    ],
  },
  {
    format: 'ipv4',
    accepted: ['10.0.0.1', '010.0.0.1', '::ffff:1.2.3.4'],
    refused: ['10.0.0', '10.0.0.256', '::1', ''],
  },
  { format: 'ipv6', accepted: ['::1', '2001:db8::1', '::ffff:1.2.3.4'], refused: ['1.2.3.4', 'fe80::1%eth0', ':::'] },
  {
    format: 'cidr',
    accepted: ['10.0.0.0/8', '10.0.0.1/8', '010.0.0.0/8', '::/0'],
    refused: ['10.0.0.0/33', '10.0.0.0'],
  },
  {
    format: 'mac',
    accepted: [
      '01:23:45:67:89:ab',
      '01-23-45-67-89-AB',
      '0123.4567.89ab',
      '01:23:45:67:89:ab:cd:ef',
      '0123.4567.89ab.cdef',
    ],
    refused: ['01:23', '01:23-45:67:89:ab'],
  },
  {
    format: 'uuid',
    accepted: ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'],
    refused: ['123e4567-e89b-12d3-a456'],
  },
  {
    format: 'uuid4',
    accepted: ['123e4567-e89b-42d3-a456-426614174000'],
    refused: ['123e4567-e89b-12d3-a456-426614174000'],
  },
  { format: 'isbn', accepted: ['0321751043', '978-0321751041'], refused: ['0321751044'] },
  { format: 'isbn10', accepted: ['0321751043'], refused: ['032175104X'] },
  { format: 'isbn13', accepted: ['978 0321751041'], refused: ['9780321751042'] },
  { format: 'creditcard', accepted: ['4111-1111-1111-1111'], refused: ['4111111111111112'] },
  { format: 'ssn', accepted: ['123-45-6789'], refused: ['123456789'] },
  { format: 'hexcolor', accepted: ['#FFF', 'FFFFFF'], refused: ['#FFFF'] },
  { format: 'rgbcolor', accepted: ['rgb(1, 2, 255)'], refused: ['rgb(256,0,0)'] },
  { format: 'byte', accepted: ['aGk=', 'aGVsbG8gd29ybGQ='], refused: ['aGk', '', 'a===', '####'] },
  { format: 'password', accepted: ['anything'], refused: [] },
  { format: 'date', accepted: ['2024-02-29'], refused: ['2023-02-29', '2024-1-1', '2024-02-29T00:00:00Z'] },
  {
    format: 'date-time',
    accepted: ['2024-01-02T03:04:05Z', '2024-01-02t03:04:05.123+02:00'],
    refused: [
      '2024-01-02 03:04:05Z',
      '2024-01-02T25:04:05Z',
      '2024-01-02T03:04:60Z',
      '2024-01-02T03:04:05',
      '2024-13-02T03:04:05Z',
    ],
  },
  {
    format: 'duration',
    accepted: ['1h30m', '22 ns', '2 days', '1d', '-1.5h', '3 weeks 2 d'],
    refused: ['x', '5', '', '1 fortnight'],
  },
  { format: 'k8s-short-name', accepted: ['a-b'], refused: ['A', 'a.b', '-a'] },
  { format: 'k8s-long-name', accepted: ['a.b'], refused: ['a..b', 'A'] },
  { format: 'unheard-of', accepted: ['x'], refused: [] },
];

describe.each(ROWS)('$format', ({ format, accepted, refused }) => {
  const accepts = (text: string): boolean => formatCheck('string', format)?.accepts(text) ?? true;

  test.each(accepted.map((text) => ({ text })))('takes "$text"', ({ text }) => {
    expect(accepts(text)).toBe(true);
  });

  test.each(refused.map((text) => ({ text })))('refuses "$text"', ({ text }) => {
    expect(accepts(text)).toBe(false);
  });
});

test('formats apply only to strings', () => {
  expect(formatCheck('object', 'uri')).toBeUndefined();
  expect(formatCheck(undefined, 'uri')).toBeDefined();
});
