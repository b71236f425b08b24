import { expect, test } from 'vitest';
import { createRateLimit } from './rate.ts';

function limited(requestsPerMinute: number) {
  let now = 0;
  const limit = createRateLimit(requestsPerMinute, () => now);
  return {
    limit,
    advance(ms: number) {
      now += ms;
    },
    /** Returns how many of the requests are permitted. */
    allowed: (address: string, requests: number) =>
      Array.from({ length: requests }, () => limit(address)).filter((wait) => wait === undefined).length,
  };
}

test('permits the requests of 15 s at once, and later as many as have accumulated', () => {
  const { allowed, limit, advance } = limited(120);
  expect(allowed('10.0.0.1', 100)).toBe(30);
  expect(limit('10.0.0.1')).toBe(1);
  advance(5000);
  expect(allowed('10.0.0.1', 100)).toBe(10);
  advance(3_600_000);
  expect(allowed('10.0.0.1', 100)).toBe(30);
});

test('permits ten requests at once for a small limit, and returns the wait afterwards', () => {
  const { allowed, limit } = limited(1);
  expect(allowed('10.0.0.1', 100)).toBe(10);
  expect(limit('10.0.0.1')).toBe(60);
});

test.each([
  { first: '10.0.0.1', second: '10.0.0.2', same: false, reason: 'two IPv4 addresses' },
  { first: '2001:db8:1:2:3:4:5:6', second: '2001:db8:1:2::7', same: true, reason: 'one IPv6 network' },
  { first: '2001:db8:1:2::1', second: '2001:db8:1:3::1', same: false, reason: 'two IPv6 networks' },
  { first: '2001:db8::1', second: '2001:db8:0:0:9::1', same: true, reason: 'one network, written differently' },
  { first: '::ffff:10.0.0.1', second: '::ffff:10.0.0.2', same: false, reason: 'IPv4 in the form of IPv6' },
])('$reason count as one client: $same', ({ first, second, same }) => {
  const { allowed } = limited(1);
  allowed(first, 10);
  expect(allowed(second, 1)).toBe(same ? 0 : 1);
});

test('remembers a frequent client although a hundred thousand other clients send requests', () => {
  const { allowed, limit } = limited(1);
  allowed('192.0.2.1', 10);
  for (let index = 0; index < 100_000; index += 1) {
    limit(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
    if (index % 1000 === 0) limit('192.0.2.1');
  }
  expect(allowed('192.0.2.1', 1)).toBe(0);
});
