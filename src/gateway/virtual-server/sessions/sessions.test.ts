// Tests the limit of sessions: a caller that opens many sessions loses its own sessions.

import { expect, it } from 'vitest';
import type { Exchange } from '../../backends/backend.ts';
import { callerVariant } from '../../backends/caller-key.ts';
import { createSessions, SESSIONS_MAX, type Sessions } from './sessions.ts';

const CLIENT = { revision: '2025-11-25', capabilities: {} };

function exchangeOf(caller: string): Exchange {
  return { method: 'POST', era: 'session', path: '/mcp', headers: {}, caller };
}

async function begin(sessions: Sessions, caller: string): Promise<string> {
  return (await sessions.begin(CLIENT, exchangeOf(caller))).id;
}

it('ends an unused session of the caller with the most sessions, regardless of header values', async () => {
  let ticks = 0;
  const tick = () => {
    ticks += 1;
    return ticks;
  };
  const random = (size: number) => Buffer.from(String(tick()).padStart(size, '0'));
  const clock = { monotonic: tick, every: () => () => undefined, random };
  const ended: (string | undefined)[] = [];
  const sessions = createSessions({ clock, store: undefined, expired: ({ last }) => void ended.push(last?.caller) });
  const other = await begin(sessions, 'other');
  await begin(sessions, 'other');
  const greedy = await begin(sessions, callerVariant('greedy', 'first'));
  for (let count = sessions.size(); count <= SESSIONS_MAX; count += 1) {
    await begin(sessions, callerVariant('greedy', String(count)));
  }
  expect(ended).toEqual([callerVariant('greedy', 'first')]);
  expect([await sessions.find(other), await sessions.find(greedy)].map((found) => found?.id)).toEqual([
    other,
    undefined,
  ]);
  await sessions.stop();
});
