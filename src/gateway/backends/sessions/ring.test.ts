import { expect, test } from 'vitest';
import { createRing } from './ring.ts';

function filled(count: number, bounds: { ringEvents: number; ringBytes: number }) {
  const ring = createRing(bounds);
  for (let at = 0; at < count; at += 1) {
    ring.push(Buffer.from(`event ${at}`));
    ring.trim(ring.next());
  }
  return ring;
}

test('a ring keeps the newest events under their numbers', () => {
  const ring = filled(5000, { ringEvents: 10, ringBytes: 1000 });
  expect([ring.first(), ring.next()]).toEqual([4990, 5000]);
  expect(ring.at(4989)).toBeUndefined();
  expect(ring.at(4990)?.toString()).toBe('event 4990');
  expect(ring.at(4999)?.toString()).toBe('event 4999');
  expect(ring.at(5000)).toBeUndefined();
});

test('a ring also limits the bytes of its events', () => {
  const ring = filled(100, { ringEvents: 1000, ringBytes: 40 });
  expect(ring.bytes()).toBeLessThanOrEqual(40);
  expect(ring.next() - ring.first()).toBe(5);
});

test('a ring does not delete unsent events, whatever their size', () => {
  const ring = createRing({ ringEvents: 2, ringBytes: 10 });
  for (let at = 0; at < 50; at += 1) {
    ring.push(Buffer.alloc(100));
    ring.trim(3);
  }
  expect([ring.first(), ring.next(), ring.bytes()]).toEqual([3, 50, 4700]);
  ring.trim(50);
  expect([ring.first(), ring.next(), ring.bytes()]).toEqual([50, 50, 0]);
});
