// Tests who may act at all.

import { expect, test } from 'vitest';
import { roleRefusal } from './permission.ts';

test.each([
  { caller: undefined, code: 'control-not-operator' },
  { caller: { role: 'viewer' as const }, code: 'control-not-operator' },
  { caller: { role: 'operator' as const }, code: undefined },
  { caller: { role: 'operator' as const, holds: () => true }, code: undefined },
  { caller: { role: 'operator' as const, holds: () => false }, code: 'control-unauthorized' },
])('$caller.role: $code', ({ caller, code }) => {
  expect(roleRefusal(caller)?.code).toBe(code);
});
