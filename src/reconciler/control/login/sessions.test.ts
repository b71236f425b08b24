// Tests the sessions of logins: new ids, and an end.

import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSessions } from './sessions.ts';

test('each session has an id and a proof of its own, and ends after its time or when it is closed', () => {
  let now = 0;
  const sessions = createSessions({ random: randomBytes, monotonic: () => now }, 1000);
  const [first, second] = [1, 2].map(() => sessions.open({ name: 'ada', role: 'viewer' })) as [string, string];
  const callers = [first, second].map(sessions.find);
  expect(first).not.toBe(second);
  expect(callers[0]?.csrf).not.toBe(callers[1]?.csrf);
  expect(callers.map((each) => each?.csrf)).not.toContain(first);
  sessions.close(first);
  expect([sessions.find(first), callers[0]?.holds?.(), callers[1]?.holds?.()]).toEqual([undefined, false, true]);
  now = 999;
  expect(sessions.find(second)).toMatchObject({ name: 'ada', role: 'viewer', means: 'login' });
  now = 1000;
  expect([sessions.find(second), callers[1]?.holds?.()]).toEqual([undefined, false]);
  expect(sessions.find('')).toBeUndefined();
});
