import { expect, test } from 'vitest';
import { readTraceParent, textOfTraceParent } from './trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('reads the header that textOfTraceParent formats', () => {
  const text = `00-${TRACE}-${SPAN}-01`;
  expect(readTraceParent(text)).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true });
  expect(textOfTraceParent({ traceId: TRACE, spanId: SPAN, sampled: true })).toBe(text);
});

test.each([
  { header: undefined, reason: 'the header is missing' },
  { header: [`00-${TRACE}-${SPAN}-01`], reason: 'the header is repeated' },
  { header: '', reason: 'the header is empty' },
  { header: `00-${TRACE}-${SPAN}`, reason: 'the flags are missing' },
  { header: `00-${TRACE}-${SPAN}-01-more`, reason: 'version 00 has more than four parts' },
  { header: `ff-${TRACE}-${SPAN}-01`, reason: 'the version is ff' },
  { header: `00-${'0'.repeat(32)}-${SPAN}-01`, reason: 'the trace id is zero' },
  { header: `00-${TRACE}-${'0'.repeat(16)}-01`, reason: 'the span id is zero' },
  { header: `00-${TRACE.toUpperCase()}-${SPAN}-01`, reason: 'an id has capital letters' },
  { header: `00-${TRACE}\n"-${SPAN}-01`, reason: 'an id contains other characters' },
])('returns undefined if $reason', ({ header }) => {
  expect(readTraceParent(header)).toBeUndefined();
});

test('reads the known parts of a later version', () => {
  expect(readTraceParent(`01-${TRACE}-${SPAN}-00-more`)).toMatchObject({ traceId: TRACE, sampled: false });
});
