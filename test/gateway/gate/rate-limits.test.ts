import { expect, test } from 'vitest';
import { createRateLimits } from '#gateway/gate/rate-limits.ts';

test('a refusal of the store that names no limit refuses the call', async () => {
  const settings = { shared: { maxTokens: 1, refillMs: 1000 }, tools: new Map() };
  const limits = createRateLimits(settings, async () => ({
    taken: { ok: false, empty: 7, waitMs: 0 },
    isAlone: false,
  }));
  const result = await limits.take({ user: 'ada', tools: ['echo'] });
  expect(result?.denial).toMatchObject({ httpStatus: 429, code: 'rate-limit-shared' });
});
