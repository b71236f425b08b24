import { expect, test } from 'vitest';
import { type Bodies, createBodies } from './bodies.ts';

test('caches a body that is set for the second time', () => {
  const bodies = createBodies(() => 0);
  bodies.set('a', Buffer.from('body'));
  expect(bodies.get('a')).toBeUndefined();
  bodies.set('a', Buffer.from('body'));
  expect(bodies.get('a')?.toString()).toBe('body');
});

test('caches a body for one minute', () => {
  let now = 0;
  const bodies = asked(createBodies(() => now));
  bodies.set('a', Buffer.from('body'));
  now = 59_999;
  expect(bodies.get('a')?.toString()).toBe('body');
  expect(bodies.get('b')).toBeUndefined();
  now = 60_000;
  expect(bodies.get('a')).toBeUndefined();
});

test('drops the oldest bodies beyond the size limit, and a body that is larger than the limit', () => {
  const bodies = asked(createBodies(() => 0));
  const half = Buffer.alloc(8 * 1024 * 1024);
  bodies.set('a', half);
  bodies.set('b', half);
  bodies.set('b', half);
  expect(['a', 'b'].map((tag) => bodies.get(tag)?.length)).toEqual([half.length, half.length]);
  bodies.set('c', Buffer.from('small'));
  expect(['a', 'b', 'c'].map((tag) => bodies.get(tag)?.length)).toEqual([undefined, half.length, 5]);
  bodies.set('d', Buffer.alloc(2 * half.length + 1));
  expect(['b', 'c', 'd'].map((tag) => bodies.get(tag))).toEqual([undefined, undefined, undefined]);
});

test('copies a body that is part of a larger buffer', () => {
  const bodies = asked(createBodies(() => 0));
  bodies.set('a', Buffer.alloc(65_536, 'body').subarray(4, 12));
  const kept = bodies.get('a');
  expect([kept?.toString(), kept?.buffer.byteLength]).toEqual(['bodybody', 8]);
});

/** Sets each body twice, so that it is cached. */
function asked(bodies: Bodies): Bodies {
  return {
    get: bodies.get,
    set(name, body) {
      bodies.set(name, body);
      bodies.set(name, body);
    },
  };
}
