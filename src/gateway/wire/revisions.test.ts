// Tests which era a request belongs to, by its header and its message.

import { describe, expect, test } from 'vitest';
import type { Message } from './message.ts';
import { eraOf, eraOfRevision, SUPPORTED_REVISIONS } from './revisions.ts';
import { scanMessage } from './scan.ts';

const KEY = 'io.modelcontextprotocol/protocolVersion';

function messageOf(text: string): Message {
  const scanned = scanMessage(Buffer.from(text));
  if (!scanned.ok) throw new Error(scanned.fault.message);
  return scanned.message;
}

const PLAIN = messageOf('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
const RESPONSE = messageOf('{"jsonrpc":"2.0","id":1,"result":{}}');
const NOTIFICATION = messageOf('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');

function claiming(revision: string): Message {
  return messageOf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"${KEY}":"${revision}"}}}`);
}

function initialize(revision: string): Message {
  return messageOf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"${revision}"}}`);
}

/** Header, message, and expected revision or fault of each case. `reason` is part of the test name. */
const ROWS: readonly { header?: string; message?: Message; expected: string; reason: string }[] = [
  { message: PLAIN, expected: 'session 2025-03-26', reason: 'no header means 2025-03-26' },
  {
    header: '2025-06-18',
    message: PLAIN,
    expected: 'session 2025-06-18',
    reason: 'the header names a session revision',
  },
  { header: '2025-11-25', expected: 'session 2025-11-25', reason: 'a GET has a header only' },
  { expected: 'session 2025-03-26', reason: 'a GET without a header is old' },
  {
    header: '2026-07-28',
    expected: 'stateless 2026-07-28',
    reason: 'a GET of the stateless era has to be refused by the caller of the function',
  },
  { header: '2099-01-01', expected: '400 -32000', reason: 'the header is unknown and the body says nothing' },
  { header: '2025-11-25, 2025-11-25', expected: '400 -32000', reason: 'a header that came twice is unknown' },
  {
    header: '2025-11-25',
    message: RESPONSE,
    expected: 'session 2025-11-25',
    reason: 'clients answer in the session era',
  },
  {
    header: '2026-07-28',
    message: RESPONSE,
    expected: '400 -32600',
    reason: 'clients answer nothing in the stateless era',
  },
  {
    header: '2026-07-28',
    message: NOTIFICATION,
    expected: 'stateless 2026-07-28',
    reason: 'a notification needs no _meta',
  },
  { header: '2026-07-28', message: PLAIN, expected: '400 -32602', reason: 'a request needs its _meta' },
  { header: '2026-07-28', message: claiming('2026-07-28'), expected: 'stateless 2026-07-28', reason: 'both agree' },
  { message: claiming('2026-07-28'), expected: 'stateless 2026-07-28', reason: '_meta decides alone' },
  { header: '2025-11-25', message: claiming('2026-07-28'), expected: '400 -32020', reason: 'they disagree' },
  { header: '2026-07-28', message: claiming('2025-11-25'), expected: '400 -32020', reason: 'they disagree' },
  { header: '2099-01-01', message: claiming('2099-01-01'), expected: '400 -32022', reason: 'both name an unknown one' },
  { message: claiming('1900-01-01'), expected: '400 -32022', reason: '_meta names an unknown one' },
  { message: claiming('2025-11-25'), expected: '400 -32022', reason: 'a session revision is not spoken by _meta' },
  { message: initialize('2025-06-18'), expected: 'session 2025-06-18', reason: 'initialize names its revision' },
  { message: initialize('2099-01-01'), expected: 'session 2025-11-25', reason: 'initialize is negotiated down' },
  {
    message: initialize('2026-07-28'),
    expected: 'session 2025-11-25',
    reason: 'no initialize leads to the stateless era',
  },
  {
    header: '2099-01-01',
    message: initialize('2025-11-25'),
    expected: 'session 2025-11-25',
    reason: 'the header counts after initialize only',
  },
  {
    header: '2026-07-28',
    message: initialize('2025-11-25'),
    expected: '400 -32020',
    reason: 'that era has no initialize',
  },
];

describe('eraOf', () => {
  for (const { header, message, expected, reason } of ROWS) {
    test(`answers ${expected}, since ${reason}`, () => {
      const decision = eraOf(header, message);
      const text =
        decision.fault === undefined
          ? `${decision.era} ${decision.revision}`
          : `${decision.fault.status} ${decision.fault.code}`;
      expect(text).toBe(expected);
    });
  }

  test('reports the revisions without sessions and the requested revision', () => {
    expect(eraOf(undefined, claiming('1900-01-01')).fault?.data).toEqual({
      supported: ['2026-07-28'],
      requested: '1900-01-01',
    });
  });
});

test('every supported revision has an era, and no other text has one', () => {
  expect(SUPPORTED_REVISIONS.map((revision) => eraOfRevision(revision))).toEqual([
    'stateless',
    'session',
    'session',
    'session',
    'session',
  ]);
  for (const other of ['', '2026-07-28 ', 'draft', '2025-11-24', 'constructor']) {
    expect(eraOfRevision(other), other).toBeUndefined();
  }
});
