// The story is the same for the same seed, and the fleet that it tells of does not grow: what grows beside it is a leak.

import { expect, test } from 'vitest';
import { BROKEN_PATH, createStory, FLEET_PATH, type Step } from './story.ts';

function reported(seed: number, steps: number): readonly Step[] {
  const { first, next } = createStory({ seed, repository: 'http://git.example.com/fleet.git' });
  return [first, ...Array.from({ length: steps }, next)];
}

test('the same seed tells the same story, another one another', () => {
  expect(reported(1, 50)).toEqual(reported(1, 50));
  expect(reported(1, 50)).not.toEqual(reported(2, 50));
});

test('half an hour of it has everything in it, and leaves as large a fleet as it found', () => {
  const steps = reported(20261121, 360);
  const files = new Map<string, string>();
  let most = 0;
  for (const step of steps) {
    for (const [path, text] of Object.entries(step.files)) {
      if (text === null) files.delete(path);
      else files.set(path, text);
    }
    expect(files.has(BROKEN_PATH)).toBe(step.broken);
    expect(files.get('registry.json')).toContain(`:0.0.${step.marked}"`);
    most = Math.max(most, [...files.keys()].filter((path) => path.startsWith(`${FLEET_PATH}/servers/`)).length);
  }
  expect(most).toBeLessThanOrEqual(36);
  const words = new Set(steps.map(({ what }) => what.split(' ').slice(0, 2).join(' ')));
  expect([...words].sort()).toEqual([
    'add server',
    'ask for',
    'break a',
    'change server',
    'force another',
    'mend the',
    'remove server',
    'the fleet',
  ]);
});
