import { expect, test } from 'vitest';
import { median } from './measure.ts';
import { figure, tableOf } from './table.ts';

test('a table has a ratio where there is something to divide by, and the notices below', () => {
  const rows = [
    { name: 'work', ours: 30, baseline: 20, unit: 'ms', against: 'bare work' },
    { name: 'writes', ours: 0, baseline: 0, unit: 'writes' },
    { name: 'memory', ours: 12.345, unit: 'MiB' },
  ];
  const text = tableOf([
    { rows, notices: [] },
    { rows: [], notices: ['git is not installed'] },
  ]);
  expect(text).toBe(
    [
      '| name   | ours | baseline | ratio | unit   | the baseline is |',
      '| ------ | ---: | -------: | ----: | ------ | --------------- |',
      '| work   |   30 |       20 |  1.50 | ms     | bare work       |',
      '| writes |    0 |        0 |       | writes |                 |',
      '| memory | 12.3 |          |       | MiB    |                 |',
      'note: git is not installed',
      '',
    ].join('\n'),
  );
});

test.each([
  { value: 5172, text: '5172', reason: 'counts are whole' },
  { value: 12_345.6, text: '12300', reason: 'three digits, without an exponent' },
  { value: 0.000_628_4, text: '0.000628', reason: 'also of small ones' },
  { value: 1.2, text: '1.20', reason: 'as many of all' },
])('$value is printed as $text: $reason', ({ value, text }) => {
  expect(figure(value)).toBe(text);
});

test('the median is the middle one', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 2])).toBe(2);
});
