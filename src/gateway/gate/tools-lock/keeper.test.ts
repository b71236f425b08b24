import { expect, test } from 'vitest';
import { heldLock } from '#contracts/tool-lock/held.ts';
import { createDrifts } from './drifts.ts';
import { createLockKeeper } from './keeper.ts';
import { openLock } from './lock.ts';

const READ = { name: 'read', description: 'Reads.' };
const FIND = { name: 'find', description: 'Finds.' };
const OTHER = { ...READ, description: 'Reads, and sends away.' };
const LOCK = heldLock('enforce', { server: { kind: 'MCPServer' }, tools: [READ, FIND] });

function open() {
  let now = 0;
  const keeper = createLockKeeper(openLock(LOCK), {
    clock: { monotonic: () => now },
    observed: () => undefined,
    agreed: () => undefined,
    completed: () => undefined,
  });
  function read(scope: string, ...tools: readonly { readonly name: string }[]): void {
    const reading = keeper.beginReading('tools', scope);
    for (const tool of tools) keeper.decide('tools', tool.name, Buffer.from(JSON.stringify(tool)), reading);
    reading.end();
  }
  return {
    keeper,
    read,
    needs: (scope: string) => keeper.needsReading('tools', 'read', scope),
    permits: (scope: string) => keeper.permits('tools', 'read', scope),
    pass(ms: number) {
      now += ms;
    },
  };
}

test('no call is permitted before the list was read, and afterwards only calls of definitions that agree', () => {
  const { keeper, read, needs, permits } = open();
  expect([needs('a'), permits('a')]).toEqual([true, false]);
  read('a', READ, FIND);
  expect([needs('a'), permits('a')]).toEqual([false, true]);
  expect([needs('b'), permits('b')]).toEqual([true, false]);
  expect(keeper.permits('tools', 'send', 'a')).toBe(false);
});

test('a list that contains a tool twice permits the tool only if both definitions agree', () => {
  const { read, permits } = open();
  read('a', OTHER, READ, FIND);
  expect(permits('a')).toBe(false);
  read('b', READ, OTHER, FIND);
  expect(permits('b')).toBe(false);
});

test('a tool that is not listed is not permitted', () => {
  const { read, permits } = open();
  read('a', FIND);
  expect(permits('a')).toBe(false);
});

test('after 5 s the next call reads the list, and concurrent calls do not wait', () => {
  const { read, needs, pass } = open();
  read('a', READ, FIND);
  read('b', READ, FIND);
  pass(5001);
  expect([needs('b'), needs('a'), needs('b')]).toEqual([true, false, false]);
});

test('a list that has changed for one session is read again for all sessions', () => {
  const { read, needs, permits, pass } = open();
  read('a', READ, FIND);
  read('b', READ, FIND);
  pass(5001);
  read('b', OTHER, FIND);
  expect([permits('b'), needs('a'), permits('a')]).toEqual([false, true, false]);
  read('a', READ, FIND);
  expect([permits('a'), permits('b')]).toEqual([true, false]);
});

test('the list of each session is read again after a minute', () => {
  const { read, needs, pass } = open();
  read('a', READ, FIND);
  for (let count = 0; count < 15; count += 1) {
    pass(4001);
    read('b', READ, FIND);
  }
  expect(needs('a')).toBe(true);
});

test('a failed reading has no effect, and the next call reads the list again', () => {
  const { keeper, read, needs, pass } = open();
  read('a', READ, FIND);
  pass(5001);
  expect(needs('a')).toBe(true);
  keeper.beginReading('tools', 'a').fail();
  expect(needs('a')).toBe(true);
});

test('a change during the reading of the list makes later calls wait, but not the call that reads the list', () => {
  const { keeper, needs } = open();
  const reading = keeper.beginReading('tools', 'a');
  for (const tool of [READ, FIND]) keeper.decide('tools', tool.name, Buffer.from(JSON.stringify(tool)), reading);
  keeper.doubt();
  reading.end();
  expect(keeper.permits('tools', 'read', 'a', reading)).toBe(true);
  expect([keeper.permits('tools', 'read', 'a'), needs('a')]).toEqual([false, true]);
});

test('a reading that shows a change does not count for later calls if the server has changed meanwhile', () => {
  const { keeper, read, needs, permits } = open();
  read('a', OTHER, FIND);
  const reading = keeper.beginReading('tools', 'a');
  for (const tool of [READ, FIND]) keeper.decide('tools', tool.name, Buffer.from(JSON.stringify(tool)), reading);
  keeper.doubt();
  reading.end();
  expect([permits('a'), needs('a')]).toEqual([false, true]);
});

test.each([
  ['first', [OTHER, READ, FIND]],
  ['last', [READ, OTHER, FIND]],
])(
  'a tool that a list contains twice, and that differs the %s time, is reported once until both definitions agree',
  (_when, tools) => {
    const reported: string[] = [];
    const drifts = createDrifts({ drifted: ({ name }) => void reported.push(name), changed: () => undefined });
    const keeper = createLockKeeper(openLock(LOCK), { clock: { monotonic: () => 0 }, ...drifts });
    function read(...all: readonly { readonly name: string }[]): readonly string[] {
      const reading = keeper.beginReading('tools', 'a');
      for (const tool of all) keeper.decide('tools', tool.name, Buffer.from(JSON.stringify(tool)), reading);
      reading.end();
      return drifts.all().map(({ name, what }) => `${name} ${what}`);
    }
    expect([read(...tools), read(...tools)]).toEqual([['read differs'], ['read differs']]);
    expect(reported).toEqual(['read']);
    expect(read(READ, READ, FIND)).toEqual([]);
  },
);
