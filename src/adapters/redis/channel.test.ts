import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { openChannel } from './channel.ts';

test('reports the address that it cannot reach', async () => {
  const lost: string[] = [];
  // No server listens on port 1 of loopback.
  const channel = openChannel({ address: '127.0.0.1:1', db: 0, password: () => undefined }, (message) =>
    lost.push(message),
  );
  const failure = await channel.publish('topic', Buffer.from('x')).catch((error: unknown) => error);
  await channel.close();
  expect(failure).toBeInstanceOf(Failure);
  expect(failure).toMatchObject({ code: 'redis-unreachable', data: { address: '127.0.0.1:1' } });
  expect(lost[0]).toContain('127.0.0.1:1: ');
});
