// Tests the event splitter against a slow reader that follows the HTML standard literally. In one file, because all
// tests share the splitter's recorder and the slow reader.

import { describe, expect, test } from 'vitest';
import { createEventSplitter, formatComment, formatEvent, type SseEvent } from './sse.ts';

interface Split {
  readonly events: readonly (Omit<SseEvent, 'data' | 'raw'> & { readonly data: string })[];
  readonly silent: readonly string[];
  /** All raw bytes in the order in which they arrived. */
  readonly raw: string;
  readonly faults: number;
}

function split(chunks: readonly (Buffer | string)[], maxEventBytes = 1000): Split {
  const events: Split['events'][number][] = [];
  const silent: string[] = [];
  let raw = '';
  let faults = 0;
  const splitter = createEventSplitter(
    { maxEventBytes },
    {
      event(event) {
        events.push({ data: event.data.toString(), id: event.id, type: event.type, retry: event.retry });
        raw += event.raw.toString();
      },
      silent(bytes) {
        silent.push(bytes.toString());
        raw += bytes.toString();
      },
      fault() {
        faults += 1;
      },
    },
  );
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return { events, silent, raw, faults };
}

/** Interprets a whole stream literally by the rules (HTML standard, 9.2.6 Interpreting an event stream). */
function standard(text: string): Split['events'] {
  const events: Split['events'][number][] = [];
  let data = '';
  let id: string | undefined;
  let type: string | undefined;
  let retry: number | undefined;
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  lines.pop();
  for (const line of lines) {
    if (line === '') {
      if (data !== '') events.push({ data: data.slice(0, -1), id, type, retry });
      data = '';
      id = type = retry = undefined;
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data += `${value}\n`;
    if (field === 'event') type = value;
    if (field === 'id' && !value.includes('\0')) id = value;
    if (field === 'retry' && /^[0-9]+$/.test(value)) retry = Number(value);
  }
  return events;
}

const STREAMS: readonly (readonly [string, string])[] = [
  ['one event of one line', 'data: {"a":1}\n\n'],
  ['two events', 'data: a\n\ndata: b\n\n'],
  ['CRLF', 'data: a\r\nid: 1\r\n\r\ndata: b\r\n\r\n'],
  ['CR', 'data: a\rid: 1\r\rdata: b\r\r'],
  ['line ends of all kinds', 'data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\rdata: e\r\n\n'],
  ['CR, then LF alone', 'data: a\n\r\ndata: b\r\r\ndata: c\n\n'],
  ['a byte order mark', '\ufeffdata: a\n\ndata: b\n\n'],
  ['a byte order mark in the middle', 'data: a\n\n\ufeffdata: b\n\ndata: c\n\n'],
  ['comments', ': hi\n\n:\n\ndata: a\n: within\ndata: b\n\n'],
  ['several data lines', 'data: a\ndata:b\ndata:  c\ndata\ndata:\n\n'],
  ['empty data', 'id: 7\ndata:\n\ndata\n\n'],
  ['an id without data', 'id: 7\n\ndata: x\n\n'],
  ['an id with NUL', 'id: a\0b\ndata: x\n\n'],
  ['retry', 'retry: 1500\ndata: x\n\nretry: 15s\ndata: x\n\nretry:\ndata: y\n\n'],
  [
    'fields that are unknown or nearly known',
    'foo: 1\ndatax: 2\ndat: 3\nDATA: 4\n data: 5\ndata : 6\ndata: 7\nidx\nids: 3\n\n',
  ],
  ['fields twice', 'id: 1\nid: 2\nevent: a\nevent: b\ndata: x\n\n'],
  ['colons in values', 'data: a: b:c\nevent::x\n\n'],
  ['blank lines', '\n\n\r\n\rdata: a\n\n\n\n'],
  ['text beyond ASCII', 'event: größe\nid: 😀\ndata: ü😀\n\n'],
  ['an unfinished event', 'data: a\n\ndata: b\n'],
  ['an unfinished line', 'data: a\n\ndata: b'],
  ['an empty stream', ''],
];

describe('the splitter reads as the standard says', () => {
  for (const [name, text] of STREAMS) {
    const bytes = Buffer.from(text);
    test(`${name}, in one chunk`, () => expect(split([bytes]).events).toEqual(standard(text)));

    test(`${name}, cut at any one or two places`, () => {
      for (let first = 0; first <= bytes.length; first += 1) {
        for (let second = first; second <= bytes.length; second += 1) {
          const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
          expect(split(chunks).events, `${first}, ${second}`).toEqual(standard(text));
        }
      }
    });

    test(`${name}, byte by byte`, () => {
      const chunks = Array.from(bytes, (byte) => Buffer.of(byte));
      expect(split(chunks).events).toEqual(standard(text));
    });
  }

  test('streams made of random pieces, cut at random places', () => {
    const random = numbers(20_260_728);
    const pieces = [
      'data:',
      'data: x',
      'id: 1',
      'event: e',
      ': c',
      'retry: 5',
      'foo',
      '\n',
      '\n',
      '\r\n',
      '\r',
      '\n\n',
      '\r\n\r\n',
    ];
    for (let round = 0; round < 3000; round += 1) {
      const text = Array.from({ length: 1 + random(20) }, () => pieces[random(pieces.length)]).join('');
      const bytes = Buffer.from(text);
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + random(6);
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      expect(split(chunks).events, JSON.stringify(text)).toEqual(standard(text));
    }
  });
});

/** Returns a generator of pseudorandom numbers that are the same in each run (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

describe('the splitter', () => {
  test('returns all bytes as raw parts, so that a stream can be passed on unchanged', () => {
    const text = ': hi\n\nid: 1\ndata: a\n\nretry: 5\n\ndata: b\r\n\r\n';
    expect(split([text]).raw).toBe(text);
    expect(split([text]).silent).toEqual([': hi\n\n', 'retry: 5\n\n']);
  });

  test('does not add the LF of a CR LF between two events to the second event', () => {
    expect(split(['data: a\r\r', '\ndata: b\n\n']).raw).toBe('data: a\r\rdata: b\n\n');
    expect(split(['data: a\r', '\ndata: b\n\n']).raw).toBe('data: a\r\ndata: b\n\n');
  });

  test('reports an event that is too large once, in chunks of any length, and ignores all later bytes', () => {
    const large = `data: ${'x'.repeat(200)}\n\n`;
    const expected = { events: [{ data: 'a', id: undefined, type: undefined, retry: undefined }], faults: 1 };
    expect(split(['data: a\n\n', large, 'data: b\n\n'], 100)).toMatchObject(expected);
    expect(split([`data: a\n\n${large}data: b\n\n`], 100)).toMatchObject(expected);
    expect(split(['data: a\n\n', ...Array.from(large), 'data: b\n\n'], 100)).toMatchObject(expected);
    expect(split(['data: a\n\n', 'data: '.repeat(40)], 100)).toMatchObject(expected);
  });

  test('accepts an event of exactly the largest size', () => {
    const text = `data: ${'x'.repeat(92)}\n\n`;
    expect(split([text], 100)).toMatchObject({ faults: 0, events: [{ data: 'x'.repeat(92) }] });
    expect(split([text], 99)).toMatchObject({ faults: 1, events: [] });
  });

  test('passes on the pieces of an event that is too large in order, for chunks of any length', () => {
    const large = `: c\r\nid: 1\r\ndata: ${'x'.repeat(40)}\ndata:y\r\n\n`;
    const text = `data: a\n\n${large}data: b\n\n`;
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parts: string[] = [];
      const splitter = createEventSplitter(
        { maxEventBytes: 30 },
        {
          event: ({ raw }) => parts.push(`event ${raw}`),
          large: (raw, isLast) => parts.push(`${isLast ? 'last' : 'piece'} ${raw}`),
          fault: () => parts.push('fault'),
        },
      );
      splitter.push(Buffer.from(text.slice(0, cut)));
      splitter.push(Buffer.from(text.slice(cut)));
      const joined = parts.map((part) => part.replace(/^\w+ /, '')).join('');
      expect(joined, `${cut}`).toBe(text);
      const kinds = parts.map((part) => part.replace(/ .*$/s, '')).join(' ');
      expect(kinds, `${cut}`).toMatch(/^event( piece)* last event$/);
    }
  });

  test('limits the size of each event separately', () => {
    expect(split([`data: ${'x'.repeat(80)}\n\n`.repeat(50)], 100)).toMatchObject({ faults: 0, events: { length: 50 } });
  });

  test('never changes an event that it has emitted', () => {
    const events: Buffer[] = [];
    const splitter = createEventSplitter(
      { maxEventBytes: 1000 },
      { event: ({ data }) => void events.push(data), fault: () => expect.unreachable() },
    );
    for (let n = 0; n < 20; n += 1) {
      splitter.push(Buffer.from(`data: number ${n}`));
      splitter.push(Buffer.from('\n\nda'));
      splitter.push(Buffer.from('ta: between\n\n'));
    }
    expect(events.filter((_, index) => index % 2 === 0).map(String)).toEqual(
      Array.from({ length: 20 }, (_, n) => `number ${n}`),
    );
  });

  test('emits nothing after its end', () => {
    const splitter = createEventSplitter(
      { maxEventBytes: 1000 },
      { event: () => expect.unreachable(), fault: () => expect.unreachable() },
    );
    splitter.push(Buffer.from('data: a\n'));
    splitter.end();
    splitter.push(Buffer.from('\ndata: b\n\n'));
  });
});

describe('formatEvent', () => {
  test('writes events that the splitter reads', () => {
    const events = [
      { data: Buffer.from('{"a":1}') },
      { data: Buffer.from(''), id: 'priming', retry: 500 },
      { data: Buffer.from('a\nb\n\nc'), type: 'message', id: 'r.1' },
      { data: Buffer.from('ü😀') },
    ];
    const read = split([Buffer.concat(events.map(formatEvent))]).events;
    expect(read).toEqual(events.map(({ data, id, type, retry }) => ({ data: data.toString(), id, type, retry })));
  });

  test('writes one line of data as one line', () => {
    expect(formatEvent({ data: Buffer.from('x'), type: 'message', id: '1', retry: 5 }).toString()).toBe(
      'event: message\nid: 1\nretry: 5\ndata: x\n\n',
    );
  });

  test('writes each line of the data as a data field', () => {
    const data = Buffer.from('a\r\nb\rid: 7\nc');
    expect(split([formatEvent({ data })]).events).toEqual([
      { data: 'a\nb\nid: 7\nc', id: undefined, type: undefined, retry: undefined },
    ]);
  });

  test('splits data whose lines end in CR alone', () => {
    expect(formatEvent({ data: Buffer.from('a\rid: 7') }).toString()).toBe('data: a\ndata: id: 7\n\n');
  });

  test('throws if the id or the type has a line end', () => {
    expect(() => formatEvent({ data: Buffer.from(''), id: 'a\nb' })).toThrow(RangeError);
    expect(() => formatEvent({ data: Buffer.from(''), type: 'a\rb' })).toThrow(RangeError);
  });
});

test('formatComment never writes an event, whatever its text is', () => {
  const comment = formatComment('alive\ndata: x\r\n\r\ndata: y').toString();
  expect(split([comment])).toMatchObject({ events: [], silent: [comment] });
  expect(formatComment('').toString()).toBe(': \n\n');
});
