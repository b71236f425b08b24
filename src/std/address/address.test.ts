import { expect, test } from 'vitest';
import { list, map, object, optional, text } from '../schema.ts';
import { type AddressForm, addressed, addressFault, addressFaults, collectorUrl, hostPort } from './address.ts';

const GOOD: Readonly<Record<AddressForm, readonly string[]>> = {
  url: ['https://a.example.com', 'http://a:8080/b?c#d', 'HTTPS://A.example', 'http://[::1]:80/'],
  resource: ['https://a.example.com/mcp', 'http://127.0.0.1:8080/mcp'],
  collector: ['collector', 'collector:4318', 'http://collector:4318/otlp'],
  hostPort: ['redis:6379', '10.0.0.1:1', '[::1]:65535'],
  host: ['0.0.0.0', '::', '::1', 'localhost', 'a.example.com'],
  path: ['/', '/a', 'a/b/', '/a/b%20c'],
  repository: ['https://a.example/b.git', 'git@a:b', 'ssh://git@a.example/b', 'file:///srv/a'],
};

const BAD: Readonly<Record<AddressForm, readonly string[]>> = {
  url: [
    '::bad::',
    'weather',
    'http://',
    'http:a',
    'http:// x',
    'https://a b',
    ' https://a',
    'https://u:p@a',
    'https://[::',
    'ftp://a',
  ],
  resource: ['weather', 'https://a#b', 'https://a#'],
  collector: ['::bad::', 'http://', 'ftp://a', 'a?b', 'user:password@a'],
  hostPort: ['::::', 'redis', 'redis:0', 'redis:65536', 'a b:1', 'http://a:1', '[::bad::]:1'],
  host: ['::bad::', 'a b', 'a/b', 'a@b', 'http://a'],
  path: ['http://x y', 'http://x', '/a//b', '/a?b', '/a b'],
  repository: ['https://[::', 'https://a b/c', 'https://'],
};

const rowsOf = (texts: typeof GOOD) =>
  Object.entries(texts).flatMap(([form, each]) => each.map((text) => [form as AddressForm, text] as const));

test.each(rowsOf(GOOD))('%s: %s', (form, text) => {
  expect(addressFault(form, text)).toBeUndefined();
});

test.each(rowsOf(BAD))('not %s: %s', (form, text) => {
  expect(addressFault(form, text)).toContain(text.includes('@') ? 'must be' : `not "${text}"`);
});

test('does not repeat a password in the fault', () => {
  expect(addressFault('url', 'https://ada:secret@example.com')).not.toContain('secret');
});

test('checks nested values, and skips empty texts', () => {
  const url = addressed(text('A URL.'), 'url');
  const schema = object(
    { one: optional(url), many: list(object({ url }, 'Each.'), 'All.'), by: map(url, 'By name.') },
    'It.',
  );
  const value = { one: '', many: [{ url: 'https://a' }, { url: 'b' }], by: { 'x/y': 'c', z: '' } };
  expect(addressFaults(schema, value).map(({ pointer }) => pointer)).toEqual(['/many/1/url', '/by/x~1y']);
});

test('removes the brackets of an IPv6 address', () => {
  expect(hostPort('[::1]:6379')).toEqual({ host: '::1', port: 6379 });
});

test.each([
  ['collector:4318', false, 'https://collector:4318'],
  ['collector:4318', true, 'http://collector:4318'],
  ['http://collector:4318', false, 'http://collector:4318'],
  ['https://collector', true, 'https://collector'],
  ['https://collector/otlp/', false, 'https://collector/otlp'],
  ['collector/otlp', true, 'http://collector/otlp'],
  ['[::1]:4318', true, 'http://[::1]:4318'],
  ['ftp://collector', false, undefined],
  ['user:password@collector', false, undefined],
  ['a b', false, undefined],
])('the endpoint %s, insecure %s, has the URL %s', (endpoint, insecure, url) => {
  expect(collectorUrl(endpoint, insecure)).toBe(url);
});
