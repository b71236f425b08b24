// What counts as a leak, and what is no more than a busy moment.

import { expect, test } from 'vitest';
import { courses, type Held, type Sample, thirds, type Watched } from './assess.ts';

const HELD: Held = { heapMiB: 50, externalMiB: 5, resources: { Timeout: 4 } };

/** Nine samples; memory and sockets as the function of the number says. */
function watched(changes: Partial<Watched>, memory = (_: number) => 100, sockets = (_: number) => 10): Watched {
  const samples = Array.from({ length: 9 }, (_, number): Sample => {
    return { residentMiB: memory(number), counts: { socket: sockets(number) } };
  });
  return { name: 'run', bound: true, samples, held: [HELD, HELD, HELD], ...changes };
}

function broken(each: Watched): readonly string[] {
  return courses(each).flatMap((course) => course.broken ?? []);
}

test.each([
  { reason: 'nothing grows', each: watched({}) },
  { reason: 'it grew in the first third', each: watched({}, (number) => (number < 3 ? 50 : 100)) },
  { reason: 'it has less in the end', each: watched({}, (number) => 200 - 10 * number) },
  { reason: 'one moment had much', each: watched({}, (number) => (number === 7 ? 1000 : 100)) },
  { reason: 'connections come and go', each: watched({}, undefined, (number) => (number % 2 === 0 ? 10 : 40)) },
  { reason: 'the bounds are not for it', each: watched({ bound: false }, (number) => 100 * (number + 1)) },
])('no bound is broken where $reason', ({ each }) => {
  expect(broken(each)).toEqual([]);
});

test.each([
  {
    reason: 'memory grows all the time',
    each: watched({}, (number) => 100 + 5 * number),
    says: ['run: resident memory, median (MiB) grew by the factor 1.13'],
  },
  {
    reason: 'a socket is not closed now and then',
    each: watched({}, undefined, (number) => 10 + number),
    says: ['run: socket, least: 3 more in the last third than in the middle one'],
  },
  {
    reason: 'the heap holds more',
    each: watched({ held: [HELD, HELD, { ...HELD, heapMiB: 60 }] }),
    says: ['run: heap after collection (MiB) grew by the factor 1.20'],
  },
  {
    reason: 'timers stay',
    each: watched({ held: [HELD, HELD, { ...HELD, resources: { Timeout: 40 } }] }),
    says: ['run: active Timeout: 36 more in the last third than in the middle one'],
  },
  {
    reason: 'nothing was measured',
    each: watched({ samples: [], held: [] }),
    says: ['run: resident memory, median (MiB) grew by the factor NaN'],
  },
])('a bound is broken where $reason', ({ each, says }) => {
  expect(broken(each)).toEqual(says);
});

test('what does not divide by three goes to the last third', () => {
  expect(thirds([1, 2, 3, 4, 5]).map((third) => third.join())).toEqual(['1', '2', '3,4,5']);
});
