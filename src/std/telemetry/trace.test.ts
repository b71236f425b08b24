import { expect, test } from 'vitest';
import { readTraceParent, textOfTraceParent } from './trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a parent is read as it is written', () => {
  const text = `00-${TRACE}-${SPAN}-01`;
  expect(readTraceParent(text)).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true });
  expect(textOfTraceParent({ traceId: TRACE, spanId: SPAN, sampled: true })).toBe(text);
});

test.each([
  { header: undefined, reason: 'there is none' },
  { header: [`00-${TRACE}-${SPAN}-01`], reason: 'there are several' },
  { header: '', reason: 'it is empty' },
  { header: `00-${TRACE}-${SPAN}`, reason: 'it has no flags' },
  { header: `00-${TRACE}-${SPAN}-01-more`, reason: 'version 00 has four parts' },
  { header: `ff-${TRACE}-${SPAN}-01`, reason: 'version ff is none' },
  { header: `00-${'0'.repeat(32)}-${SPAN}-01`, reason: 'a trace has an id' },
  { header: `00-${TRACE}-${'0'.repeat(16)}-01`, reason: 'a span has an id' },
  { header: `00-${TRACE.toUpperCase()}-${SPAN}-01`, reason: 'capital letters are not allowed' },
  { header: `00-${TRACE}\n"-${SPAN}-01`, reason: 'it holds something else' },
])('there is no parent if $reason', ({ header }) => {
  expect(readTraceParent(header)).toBeUndefined();
});

test('the known parts of a later version are read', () => {
  expect(readTraceParent(`01-${TRACE}-${SPAN}-00-more`)).toMatchObject({ traceId: TRACE, sampled: false });
});
