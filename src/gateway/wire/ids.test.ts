// Tests the replacement of ids, tokens and names in a message, patches, and error messages.

import { describe, expect, test } from 'vitest';
import { ERRORS, errorBody } from './errors.ts';
import { messagePatches, patchId, patchMessage, patchProgressToken, patchTarget } from './ids.ts';
import type { Message } from './message.ts';
import { jsonString, patchBytes } from './patch.ts';
import { scanMessage } from './scan.ts';

function messageOf(body: Buffer): Message {
  const scanned = scanMessage(body);
  if (!scanned.ok) throw new Error(scanned.fault.message);
  return scanned.message;
}

const CALL = Buffer.from(
  '{"jsonrpc":"2.0","params":{"_meta":{"progressToken":"t","x":1.0},"name":"a","arguments":{"n":9007199254740993}},"id" : 7 ,"method":"tools/call"}',
);

describe('a message gets', () => {
  test('another id', () => {
    const body = patchId(CALL, messageOf(CALL), '"s-1/7"');
    expect(body.toString()).toBe(CALL.toString().replace('"id" : 7 ', '"id" : "s-1/7" '));
    expect(messageOf(body)).toMatchObject({ id: { json: '"s-1/7"' }, target: { value: 'a' } });
  });

  test('another progress token', () => {
    expect(patchProgressToken(CALL, messageOf(CALL), '12').toString()).toBe(CALL.toString().replace('"t"', '12'));
  });

  test('another name, written as JSON', () => {
    const body = patchTarget(CALL, messageOf(CALL), 'b"\n\ud800');
    expect(messageOf(patchTarget(CALL, messageOf(CALL), 'größe "x"'))).toMatchObject({
      target: { value: 'größe "x"' },
    });
    expect(body.toString()).toContain('"name":"b\\"\\n\\ud800"');
  });

  test('all changes at once, in any order of the members', () => {
    const changes = { id: '1', progressToken: '2', target: 'z', refersTo: '3', subscriptionId: '4' };
    expect(patchMessage(CALL, messageOf(CALL), changes).toString()).toBe(
      '{"jsonrpc":"2.0","params":{"_meta":{"progressToken":2,"x":1.0},"name":"z","arguments":{"n":9007199254740993}},"id" : 1 ,"method":"tools/call"}',
    );
  });

  test('another reference and another subscription id', () => {
    const body = Buffer.from(
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":0.5,"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}',
    );
    const patched = patchMessage(body, messageOf(body), { refersTo: '"mine"', subscriptionId: '8' });
    expect(patched.toString()).toBe(body.toString().replace(':5,', ':"mine",').replace('"l"', '8'));
  });

  test('no value for an absent member', () => {
    const body = Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect(patchId(body, messageOf(body), '1')).toBe(body);
    expect(messagePatches(messageOf(body), { id: '1', progressToken: '2', refersTo: '3', target: 'x' })).toEqual([]);
    const error = Buffer.from('{"jsonrpc":"2.0","id":null,"error":{"code":1}}');
    expect(patchId(error, messageOf(error), '1')).toBe(error);
  });

  test('another id as a response', () => {
    const body = Buffer.from('{"jsonrpc":"2.0","result":{"id":1},"id":1}');
    expect(patchId(body, messageOf(body), '"x"').toString()).toBe('{"jsonrpc":"2.0","result":{"id":1},"id":"x"}');
  });
});

describe('patchBytes', () => {
  const body = Buffer.from('0123456789');
  const bytes = Buffer.from('ab');

  test('replaces, inserts and removes', () => {
    expect(patchBytes(body, [])).toBe(body);
    const patches = [
      { span: { start: 0, end: 0 }, bytes },
      { span: { start: 2, end: 5 }, bytes },
      { span: { start: 5, end: 6 }, bytes: Buffer.alloc(0) },
      { span: { start: 10, end: 10 }, bytes },
    ];
    expect(patchBytes(body, patches).toString()).toBe('ab01ab6789ab');
    expect(body.toString()).toBe('0123456789');
  });

  test('throws if patches overlap, are unsorted or are outside of the body', () => {
    const [first, second] = [
      { start: 1, end: 4 },
      { start: 3, end: 5 },
    ];
    expect(() =>
      patchBytes(body, [
        { span: first, bytes },
        { span: second, bytes },
      ]),
    ).toThrow(RangeError);
    expect(() =>
      patchBytes(body, [
        { span: { start: 6, end: 7 }, bytes },
        { span: first, bytes },
      ]),
    ).toThrow(RangeError);
    expect(() => patchBytes(body, [{ span: { start: 9, end: 11 }, bytes }])).toThrow(RangeError);
    expect(() => patchBytes(body, [{ span: { start: 4, end: 3 }, bytes }])).toThrow(RangeError);
  });
});

test('jsonString writes a text that JSON.parse reads', () => {
  for (const text of ['', 'a', '"\\\n\u0000', 'größe 😀', '\u2028', '\ud800']) {
    expect(JSON.parse(jsonString(text).toString())).toBe(text);
  }
});

describe('errorBody', () => {
  test('contains the id unchanged, and data', () => {
    const message = messageOf(CALL);
    const id = message.kind === 'request' ? message.id : undefined;
    const body = errorBody(id, ERRORS.unsupportedProtocolVersion, 'no "such"\n', { supported: ['2026-07-28'] });
    expect(body.toString()).toBe(
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"no \\"such\\"\\n","data":{"supported":["2026-07-28"]}}}',
    );
    expect(messageOf(body)).toMatchObject({ kind: 'response', id: { json: '7' } });
  });

  test('leaves an unknown id out', () => {
    const body = errorBody(undefined, ERRORS.parseError, 'x');
    expect(JSON.parse(body.toString())).toEqual({ jsonrpc: '2.0', error: { code: -32700, message: 'x' } });
    expect(messageOf(body)).toMatchObject({ kind: 'response', id: undefined });
  });
});
