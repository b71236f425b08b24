// Tests MCP's headers: encoded values, headers compared with the body, and headers that pass a gateway.

import { describe, expect, test } from 'vitest';
import {
  checkStandardHeaders,
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderValues,
  requestHeadersToForward,
  responseHeadersToForward,
  standardHeaders,
} from './headers.ts';
import type { Message } from './message.ts';
import { scanMessage } from './scan.ts';

describe('header values', () => {
  // Examples of MCP 2026-07-28, Streamable HTTP, Value Encoding, and similar values.
  const encoded: readonly (readonly [string, string])[] = [
    ['us-west1', 'us-west1'],
    ['a b', 'a b'],
    ['', ''],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['=?base64??=', '=?base64?PT9iYXNlNjQ/Pz0=?='],
    ['=?base64?=', '=?base64?='],
    ['a\tb', '=?base64?YQli?='],
    ['a\r\nX-Injected: 1', '=?base64?YQ0KWC1JbmplY3RlZDogMQ==?='],
    ['\u007f', '=?base64?fw==?='],
  ];
  for (const [value, header] of encoded) {
    test(`${JSON.stringify(value)} is carried as ${JSON.stringify(header)}`, () => {
      expect(encodeHeaderValue(value)).toBe(header);
      expect(decodeHeaderValue(header)).toBe(value);
    });
  }

  test('space around a value is not a part of it', () => expect(decodeHeaderValue(' \ta b\t ')).toBe('a b'));

  const invalid = [
    '=?base64?SGVsbG8?=',
    '=?base64?SGVsbG9=?=',
    '=?base64?!!!!?=',
    '=?base64?SGVs bG8=?=',
    '=?base64?_-8=?=',
    '=?base64?/w==?=',
    'grö\u00dfe',
    'a\u0000b',
    'a\nb',
    '\u4e16',
  ];
  for (const header of invalid) {
    test(`${JSON.stringify(header)} is not a value`, () => expect(decodeHeaderValue(header)).toBeUndefined());
  }
});

function messageOf(method: string, params: string): Message {
  const scanned = scanMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`));
  if (!scanned.ok) throw new Error(scanned.fault.message);
  return scanned.message;
}

const CALL = messageOf('tools/call', '{"name":"echo"}');

describe('checkStandardHeaders', () => {
  const version = { 'mcp-protocol-version': '2026-07-28' };
  const rows: readonly (readonly [HeaderValues, Message, string | undefined])[] = [
    [{ ...version, 'mcp-method': 'tools/call', 'mcp-name': 'echo' }, CALL, undefined],
    [{ ...version, 'mcp-method': 'tools/call', 'mcp-name': ' echo ' }, CALL, undefined],
    [{ ...version, 'mcp-method': 'tools/call', 'mcp-name': '=?base64?ZWNobw==?=' }, CALL, undefined],
    [{ 'mcp-method': 'tools/call', 'mcp-name': 'echo' }, CALL, 'MCP-Protocol-Version is missing'],
    [{ ...version, 'mcp-name': 'echo' }, CALL, 'Mcp-Method is missing'],
    [{ ...version, 'mcp-method': 'tools/list', 'mcp-name': 'echo' }, CALL, 'Mcp-Method does not match'],
    [{ ...version, 'mcp-method': 'Tools/Call', 'mcp-name': 'echo' }, CALL, 'Mcp-Method does not match'],
    [{ ...version, 'mcp-method': ['tools/call', 'tools/call'], 'mcp-name': 'echo' }, CALL, 'Mcp-Method does not match'],
    [{ ...version, 'mcp-method': 'tools/call' }, CALL, 'Mcp-Name is missing'],
    [{ ...version, 'mcp-method': 'tools/call', 'mcp-name': 'drop' }, CALL, 'Mcp-Name does not match'],
    [{ ...version, 'mcp-method': 'tools/call', 'mcp-name': 'Echo' }, CALL, 'Mcp-Name does not match'],
    [{ ...version, 'mcp-method': 'tools/call', 'mcp-name': 'echo, drop' }, CALL, 'Mcp-Name does not match'],
    [{ ...version, 'mcp-method': 'tools/call', 'mcp-name': '=?base64?ZWNobw?=' }, CALL, 'Mcp-Name has invalid'],
    [{ ...version, 'mcp-method': 'tools/call', 'mcp-name': '=?BASE64?ZWNobw==?=' }, CALL, 'Mcp-Name does not match'],
    [{ ...version, 'mcp-method': 'tools/list' }, messageOf('tools/list', '{}'), undefined],
    [
      { ...version, 'mcp-method': 'resources/read', 'mcp-name': 'file:///a' },
      messageOf('resources/read', '{"uri":"file:///a"}'),
      undefined,
    ],
    [
      { ...version, 'mcp-method': 'tasks/get', 'mcp-name': 't' },
      messageOf('tasks/get', '{"taskId":"u"}'),
      'Mcp-Name does not match',
    ],
  ];
  for (const [headers, message, expected] of rows) {
    test(`answers ${expected ?? 'nothing'} to ${JSON.stringify(headers)}`, () => {
      const fault = checkStandardHeaders(headers, message);
      if (expected === undefined) expect(fault).toBeUndefined();
      else expect(fault).toMatchObject({ status: 400, code: -32020 });
      expect(fault?.message ?? '').toContain(expected ?? '');
    });
  }

  test('accepts the headers that standardHeaders returns', () => {
    for (const name of ['echo', 'größe', ' x ', '=?base64?YQ==?=']) {
      const message = messageOf('tools/call', JSON.stringify({ name }));
      expect(checkStandardHeaders(standardHeaders(message, '2026-07-28'), message), name).toBeUndefined();
    }
  });

  test('accepts every notification', () => {
    const scanned = scanMessage(
      Buffer.from('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'),
    );
    expect(scanned.ok && checkStandardHeaders({}, scanned.message)).toBeUndefined();
  });
});

describe('headers that pass a gateway', () => {
  test('of a request: no hop-by-hop headers, no credentials, no session, and no content coding is requested', () => {
    const headers = {
      host: 'a',
      connection: 'keep-alive, X-Drop , Mcp-Method',
      'keep-alive': 'timeout=5',
      'x-drop': '1',
      te: 'trailers',
      trailer: 'x',
      'transfer-encoding': 'chunked',
      upgrade: 'h2c',
      'http2-settings': 'x',
      'proxy-authorization': 'x',
      'proxy-connection': 'x',
      expect: '100-continue',
      'content-length': '5',
      cookie: 'a=b',
      authorization: 'Bearer x',
      'mcp-session-id': 's',
      'accept-encoding': 'gzip',
      ':path': '/',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      'mcp-param-region': 'eu',
      'mcp-protocol-version': '2026-07-28',
      'last-event-id': '7',
      'x-forwarded-for': '10.0.0.1',
      list: ['a', 'b'],
      none: undefined,
    };
    expect(requestHeadersToForward(headers)).toEqual({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-name': 'echo',
      'mcp-param-region': 'eu',
      'mcp-protocol-version': '2026-07-28',
      'last-event-id': '7',
      'x-forwarded-for': '10.0.0.1',
      list: 'a, b',
      'accept-encoding': 'identity',
    });
  });

  test('of a response: no hop-by-hop headers, no cookies and no cross-origin rules of the server', () => {
    const headers = {
      connection: 'close, x-internal',
      'x-internal': '1',
      'transfer-encoding': 'chunked',
      'content-length': '5',
      'set-cookie': ['a=b', 'c=d'],
      'access-control-allow-origin': '*',
      'alt-svc': 'h3',
      'content-type': 'text/event-stream',
      'mcp-session-id': 's',
      'x-list': ['a', 'b'],
      'www-authenticate': 'Bearer',
      'cache-control': 'no-cache',
    };
    expect(responseHeadersToForward(headers)).toEqual({
      'content-type': 'text/event-stream',
      'mcp-session-id': 's',
      'x-list': ['a', 'b'],
      'www-authenticate': 'Bearer',
      'cache-control': 'no-cache',
    });
  });
});
