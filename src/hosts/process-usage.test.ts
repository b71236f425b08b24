// Tests measurements of this process.

import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { watchUsage } from './process-usage.ts';

test('reports the delay of a blocked event loop', async () => {
  const watch = watchUsage();
  onTestFinished(watch.stop);
  await delay(250);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  await delay(200);
  expect(watch.usage().eventLoopSeconds).toBeGreaterThanOrEqual(0.35);
});
