// Tests the single writes to the standard input of a process.

import { expect, test } from 'vitest';
import type { Streams } from '#gateway/backends/ports.ts';
import { openLine, type ProcessLine } from '#gateway/backends/stdio/line.ts';
import { clock, countingObserver } from './world.ts';

const MIB = 1024 * 1024;

interface Written {
  readonly line: ProcessLine;
  /** The text of each write. */
  readonly writes: string[];
  /** Returns the number of calls of `drain`. */
  drained(): number;
  /** Makes the process stop reading, until `unblock`. */
  block(): void;
  unblock(): void;
}

async function opened(): Promise<Written> {
  const writes: string[] = [];
  let [drained, reads] = [0, true];
  let unblocked = (): void => undefined;
  const line = await openLine(
    {
      openStreams: async (_index, handlers): Promise<Streams> => {
        unblocked = handlers.drain;
        return {
          instance: 'one',
          write: (bytes) => {
            writes.push(bytes.toString());
            return reads;
          },
          pause: () => undefined,
          resume: () => undefined,
          close: async () => undefined,
        };
      },
      ...{ clock, observer: countingObserver(), maxLineBytes: MIB },
    },
    0,
    { message: () => undefined, drain: () => (drained += 1), closed: () => undefined },
  );
  return {
    line,
    writes,
    drained: () => drained,
    block: () => (reads = false),
    unblock() {
      reads = true;
      unblocked();
    },
  };
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('lines of one event loop turn are written together, in order', async () => {
  const { line, writes } = await opened();
  for (const text of ['a', 'b', 'c']) expect(line.send(Buffer.from(text))).toBe(true);
  expect(writes).toEqual([]);
  await endOfTurn();
  expect(writes).toEqual(['a\nb\nc\n']);
  line.send(Buffer.from('d'));
  await endOfTurn();
  expect(writes).toEqual(['a\nb\nc\n', 'd\n']);
});

test('lines that were sent before the close are written, and no later lines', async () => {
  const { line, writes } = await opened();
  line.send(Buffer.from('cancelled'));
  await line.close();
  line.send(Buffer.from('late'));
  await endOfTurn();
  expect(writes).toEqual(['cancelled\n']);
});

test('a long line does not lead to waiting if the process reads', async () => {
  const { line, writes, drained } = await opened();
  line.send(Buffer.from('first'));
  expect(line.send(Buffer.alloc(2 * MIB, 'x'))).toBe(true);
  expect(line.congested()).toBe(false);
  expect(writes.map((text) => text.length)).toEqual(['first\n'.length + 2 * MIB + 1]);
  await endOfTurn();
  expect([writes.length, drained()]).toEqual([1, 0]);
});

test('a process that did not read gets the waiting lines once it reads again', async () => {
  const { line, writes, drained, block, unblock } = await opened();
  block();
  line.send(Buffer.from('a'));
  await endOfTurn();
  expect(line.send(Buffer.from('b'))).toBe(true);
  expect(line.send(Buffer.alloc(MIB, 'x'))).toBe(false);
  await endOfTurn();
  expect([writes, line.congested(), drained()]).toEqual([['a\n'], true, 0]);
  unblock();
  expect(writes.map((text) => text.length)).toEqual([2, 2 + MIB + 1]);
  expect([line.congested(), drained()]).toEqual([false, 1]);
});
