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

/** What happens, in its order. */
function watch() {
  const seen: string[] = [];
  const answer: Answer = {
    head: (status) => seen.push(`head ${status}`),
    data: (chunk) => seen.push(`data ${chunk}`) > 0,
    end: () => seen.push('end'),
    fail: ({ reason }) => seen.push(`fail ${reason}`),
  };
  function messageOf(): Buffer {
    seen.push('made');
    return Buffer.from('{}');
  }
  return { seen, ask: (asked: Offered | Promise<Offered>) => answerFromOffer(asked, answer, messageOf) };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('requests that arrive together are all read before the first of them is answered', async () => {
  const { seen, ask } = watch();
  ask(OFFERED);
  ask(OFFERED);
  expect(seen).toEqual(['made', 'made']);
  await nextTurn();
  expect(seen.slice(2)).toEqual(['head 200', 'data {}', 'end', 'head 200', 'data {}', 'end']);
});

test('a client that has gone is not answered', async () => {
  const { seen, ask } = watch();
  ask(OFFERED).abort();
  ask(Promise.resolve(OFFERED)).abort();
  await nextTurn();
  expect(seen).toEqual(['made']);
});

test('what is known later is answered as well, and a fault as one', async () => {
  const { seen, ask } = watch();
  ask(Promise.resolve(OFFERED));
  ask({ ok: false, fault: { reason: 'unreachable', message: 'none answers' } });
  await nextTurn();
  await nextTurn();
  expect(seen).toEqual(['fail unreachable', 'made', 'head 200', 'data {}', 'end']);
});
