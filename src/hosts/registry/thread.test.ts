import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { awaitEnd } from './thread.ts';

test.each([
  { how: 'throws', code: "throw new TypeError('a bug')", says: 'a bug' },
  { how: 'leaves without a word', code: 'process.exit(3)', says: 'exit code 3' },
])('a thread that $how causes a failure that can be tried again', async ({ code, says }) => {
  const worker = new Worker(code, { eval: true });
  await expect(awaitEnd(worker)).rejects.toMatchObject({
    code: 'sync-thread-failed',
    retryable: true,
    message: expect.stringContaining(says),
  });
});
