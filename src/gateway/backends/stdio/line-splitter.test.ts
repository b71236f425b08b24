import { expect, test } from 'vitest';
import { createLineSplitter, type LineSplitter } from './line-splitter.ts';

interface Split {
  readonly lines: string[];
  readonly splitter: LineSplitter;
  tooLong: number;
}

function split(maxBytes = 1000, onLine: (splitter: () => LineSplitter) => void = () => undefined): Split {
  const lines: string[] = [];
  const splitter: LineSplitter = createLineSplitter(maxBytes, {
    line(bytes) {
      lines.push(bytes.toString());
      onLine(() => splitter);
    },
    tooLong() {
      result.tooLong += 1;
    },
  });
  const result: Split = { lines, splitter, tooLong: 0 };
  return result;
}

test('the sizes of the chunks do not change the lines', () => {
  const text = Buffer.from('one\r\n\ntwö 🐝\n{"a":"\\n"}\nthree\r\nunfinished');
  for (let first = 0; first <= text.length; first += 1) {
    for (let second = first; second <= text.length; second += 1) {
      const { lines, splitter } = split();
      for (const [from, to] of [
        [0, first],
        [first, second],
        [second, text.length],
      ]) {
        splitter.push(Buffer.from(text.subarray(from, to)));
      }
      expect(lines).toEqual(['one', 'twö 🐝', '{"a":"\\n"}', 'three']);
    }
  }
});

test('a line that arrives byte by byte uses little memory', () => {
  const { lines, splitter } = split(300_000);
  const before = process.memoryUsage();
  for (let at = 0; at < 200_000; at += 1) splitter.push(Buffer.from('x'));
  splitter.push(Buffer.from('\n'));
  expect(lines[0]?.length).toBe(200_000);
  expect(process.memoryUsage().external - before.external).toBeLessThan(50_000_000);
});

test.each([
  ['in one chunk', ['x'.repeat(11), '\nnext\n']],
  ['in many chunks', [...'x'.repeat(11), '\nnext\n']],
  ['with its end in the same chunk', [`${'x'.repeat(11)}\nnext\n`]],
])('a line over the maximum length %s is reported and ends the splitter', (_, chunks) => {
  const result = split(10);
  for (const chunk of chunks) result.splitter.push(Buffer.from(chunk));
  expect([result.lines, result.tooLong]).toEqual([[], 1]);
});

test('a line of exactly the maximum length passes', () => {
  const { lines, splitter } = split(10);
  splitter.push(Buffer.from(`${'x'.repeat(10)}\n`));
  expect(lines.length).toBe(1);
});

test('hold stops after the current line, and release continues in order', () => {
  const { lines, splitter } = split(1000, (get) => get().hold());
  splitter.push(Buffer.from('a\nb\nc'));
  splitter.push(Buffer.from('c\nd\n'));
  expect(lines).toEqual(['a']);
  expect(splitter.release()).toBe(false);
  expect(lines).toEqual(['a', 'b']);
  splitter.release();
  expect(lines).toEqual(['a', 'b', 'cc']);
  splitter.release();
  expect(lines).toEqual(['a', 'b', 'cc', 'd']);
  expect(splitter.release()).toBe(true);
});
