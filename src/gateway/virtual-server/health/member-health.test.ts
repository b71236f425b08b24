// Tests that one call at a time tests the member while a circuit is half open.

import { expect, test } from 'vitest';
import { createMemberHealth, type MemberHealth } from './member-health.ts';

const BREAKER = { unhealthyThreshold: 1, breaker: { failureThreshold: 1, openMs: 1000 } };

function openCircuit(): { readonly health: MemberHealth; readonly before: () => void; pass(ms: number): void } {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const health = createMemberHealth(BREAKER, clock, () => undefined);
  const before = health.admit() ?? expect.unreachable('a closed circuit lets calls pass');
  health.observe({ ok: false });
  return {
    health,
    before,
    pass(ms) {
      now += ms;
    },
  };
}

test('the next call tests the member again after a test without a result', () => {
  const { health, pass } = openCircuit();
  expect(health.admit()).toBeUndefined();
  pass(1000);
  const release = health.admit();
  expect(release).toBeDefined();
  expect(health.admit()).toBeUndefined();
  release?.();
  expect(health.admit()).toBeDefined();
});

test('neither an earlier call nor a call that ends twice frees the test slot of another call', () => {
  const { health, before, pass } = openCircuit();
  pass(1000);
  const first = health.admit();
  before();
  expect(health.admit()).toBeUndefined();
  first?.();
  expect(health.admit()).toBeDefined();
  first?.();
  expect(health.admit()).toBeUndefined();
});
