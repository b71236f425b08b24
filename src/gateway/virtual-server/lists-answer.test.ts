import { expect, test } from 'vitest';
import type { Answer } from '../backends/backend.ts';
import { assembleOffer } from './catalogue/assemble.ts';
import type { Offered } from './catalogue/catalogue.ts';
import { answerFromOffer } from './lists-answer.ts';
import { aggregationRules } from './settings.ts';

const RULES = aggregationRules({
  aggregation: {
    ...{ conflictResolution: 'prefix', conflictResolutionConfig: { prefixFormat: '{workload}_' } },
    excludeAllTools: false,
  },
});
const OFFERED: Offered = { ok: true, offer: assembleOffer([], RULES) };

function watch(more: Partial<Answer> = {}) {
  const events: string[] = [];
  const answer: Answer = {
    head: (status) => events.push(`head ${status}`),
    data: (chunk) => events.push(`data ${chunk}`) > 0,
    end: () => events.push('end'),
    fail: ({ reason }) => events.push(`fail ${reason}`),
    ...more,
  };
  function messageOf(): Buffer {
    events.push('made');
    return Buffer.from('{}');
  }
  return { events, ask: (asked: Offered | Promise<Offered>) => answerFromOffer(asked, answer, messageOf) };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('reads all requests of a turn before it answers the first request', async () => {
  const { events, ask } = watch();
  ask(OFFERED);
  ask(OFFERED);
  expect(events).toEqual(['made', 'made']);
  await nextTurn();
  expect(events.slice(2)).toEqual(['head 200', 'data {}', 'end', 'head 200', 'data {}', 'end']);
});

test('sends no answer to a client that has disconnected', async () => {
  const { events, ask } = watch();
  ask(OFFERED).abort();
  ask(Promise.resolve(OFFERED)).abort();
  await nextTurn();
  expect(events).toEqual(['made']);
});

test('waits for an offer that is not yet known, and reports a fault of the offer', async () => {
  const { events, ask } = watch();
  ask(Promise.resolve(OFFERED));
  ask({ ok: false, fault: { reason: 'unreachable', message: 'none answers' } });
  await nextTurn();
  await nextTurn();
  expect(events).toEqual(['fail unreachable', 'made', 'head 200', 'data {}', 'end']);
});

test('an answer that cannot be sent fails only its own request', async () => {
  const { events, ask } = watch({
    data() {
      throw new Error('broken');
    },
  });
  ask(OFFERED);
  await nextTurn();
  expect(events).toEqual(['made', 'head 200', 'fail answer-invalid']);
});
