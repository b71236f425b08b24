// Tests the strict scan: accepted messages with the positions of their parts, and refused messages with their errors.
// In one file, because the tests are two tables of messages, and most refused messages are changed rows of accepted
// messages.

import { describe, expect, test } from 'vitest';
import { MAX_DEPTH } from './json-bytes.ts';
import type { Message, Span } from './message.ts';
import { scanMessage } from './scan.ts';

function accepted(text: string | Buffer): Message {
  const scanned = scanMessage(Buffer.from(text));
  if (!scanned.ok) throw new Error(scanned.fault.message);
  return scanned.message;
}

function refusal(text: string | Buffer): string {
  const scanned = scanMessage(Buffer.from(text));
  return scanned.ok ? 'accepted' : `${scanned.fault.code} ${scanned.fault.message}`;
}

function partOf(text: string, span: Span | undefined): string | undefined {
  return span === undefined ? undefined : Buffer.from(text).toString('utf8', span.start, span.end);
}

function call(params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
}

function keys(count: number): string {
  return Array.from({ length: count }, (_, i) => `"k${i}":1`).join();
}

describe('scanMessage accepts', () => {
  test('1,000 unknown keys, and any number of unknown keys in arguments', () => {
    expect(accepted(call(`{"name":"a",${keys(1000)}}`)).kind).toBe('request');
    expect(accepted(call(`{"name":"a","arguments":{${keys(5000)}}}`)).kind).toBe('request');
  });

  test('a call, and returns the positions of its parts', () => {
    const text =
      ' {"jsonrpc" : "2.0", "id": "a-1",\n"method":"tools/call","params":{"name":"größe","arguments":{"x":[1,{"name":2}]},"_meta":' +
      '{"progressToken":12,"traceparent":"00-1","tracestate":"s","baggage":"b","io.modelcontextprotocol/protocolVersion":"2026-07-28",' +
      '"io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/clientCapabilities":{}}}}\n';
    const message = accepted(text);
    if (message.kind !== 'request') throw new Error(message.kind);
    expect(message.id.json).toBe('"a-1"');
    expect(partOf(text, message.id.span)).toBe('"a-1"');
    expect(message.method).toBe('tools/call');
    expect(partOf(text, message.methodSpan)).toBe('"tools/call"');
    expect(message.target?.value).toBe('größe');
    expect(partOf(text, message.target?.span)).toBe('"größe"');
    expect(partOf(text, message.arguments)).toBe('{"x":[1,{"name":2}]}');
    expect(partOf(text, message.params)).toBe(text.slice(text.indexOf('{"name":"g'), -2));
    expect(message.meta).toMatchObject({
      protocolVersion: '2026-07-28',
      progressToken: { json: '12' },
      traceparent: '00-1',
      tracestate: 's',
      baggage: 'b',
    });
    expect(partOf(text, message.meta?.clientInfo)).toBe('{"name":"c"}');
    expect(partOf(text, message.meta?.clientCapabilities)).toBe('{}');
  });

  test('values written with escapes, as PHP and Python write them, and decodes them', () => {
    const message = accepted(
      '{"jsonrpc":"2.0","id":"\\u0061","method":"tools\\/call","params":{"name":"gr\\u00f6\\u00dfe \\ud83d\\ude00"}}',
    );
    expect(message).toMatchObject({ method: 'tools/call', target: { value: 'größe 😀' }, id: { json: '"a"' } });
  });

  const targets: readonly (readonly [string, string, string])[] = [
    ['tools/call', '{"name":"a","uri":"b"}', 'a'],
    ['prompts/get', '{"name":"p","arguments":null}', 'p'],
    ['resources/read', '{"uri":"file:///a","name":"b"}', 'file:///a'],
    ['resources/subscribe', '{"uri":"u"}', 'u'],
    ['completion/complete', '{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":"v"}}', 'p'],
    ['completion/complete', '{"ref":{"type":"ref/resource","uri":"u{x}"},"argument":{}}', 'u{x}'],
    ['tasks/cancel', '{"taskId":"t"}', 't'],
  ];
  for (const [method, params, target] of targets) {
    test(`${method} and takes ${target} from ${params} as its target`, () => {
      const message = accepted(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
      expect(message).toMatchObject({ target: { value: target } });
    });
  }

  test('a method that no revision names, without a target', () => {
    expect(accepted('{"jsonrpc":"2.0","id":1,"method":"acme/do","params":{"name":5}}')).toMatchObject({
      method: 'acme/do',
      target: undefined,
    });
  });

  test('a method that the stateless era has removed, with and without its target', () => {
    const meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}';
    const subscribe = (params: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{${params}}}`;
    expect(accepted(subscribe(meta))).toMatchObject({ target: undefined });
    expect(accepted(subscribe(`"uri":"u",${meta}`))).toMatchObject({ target: { value: 'u' } });
    expect(refusal(subscribe(`"uri":5,${meta}`))).toMatch(/^-32602/);
  });

  test('an initialize, and reads the requested revision', () => {
    const text = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}';
    expect(accepted(text)).toMatchObject({ requestedVersion: '2025-06-18', id: { json: '0' } });
  });

  test('notifications, and reads their references', () => {
    const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}';
    expect(accepted(progress)).toMatchObject({ kind: 'notification', refersTo: { json: '"t"' } });
    const cancelled = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":-7}}';
    expect(accepted(cancelled)).toMatchObject({ kind: 'notification', refersTo: { json: '-7' } });
    const updated =
      '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u","_meta":{"io.modelcontextprotocol/subscriptionId":3}}}';
    expect(accepted(updated)).toMatchObject({ target: { value: 'u' }, meta: { subscriptionId: { json: '3' } } });
  });

  test('responses with a result or an error, and errors without an id', () => {
    const result = '{"jsonrpc":"2.0","id":9007199254740993,"result":{"a":1e400}}';
    expect(accepted(result)).toMatchObject({ kind: 'response', id: { json: '9007199254740993' } });
    expect(accepted('{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}')).toMatchObject({ kind: 'response' });
    expect(accepted('{"jsonrpc":"2.0","error":{"code":-32700}}')).toMatchObject({ id: undefined });
  });

  test('repeated keys, keys in another case and keys with escapes inside arguments, which the scan does not read', () => {
    const message = accepted(
      call('{"name":"a","arguments":{"name":1,"name":2,"NAME":3,"n\\u0061me":4,"x":"\\ud800"}}'),
    );
    expect(message).toMatchObject({ target: { value: 'a' } });
  });

  test('unknown keys in any spelling', () => {
    accepted(call('{"name":"a","Größe":1,"gr\\u00f6\\u00dfe":2,"_meta":{"com.example/a":1,"COM.EXAMPLE/a":2}}'));
  });

  test(`${MAX_DEPTH} levels of nesting`, () => {
    const inner = MAX_DEPTH - 2;
    accepted(call(`{"name":"a","x":${'['.repeat(inner)}${']'.repeat(inner)}}`));
  });

  test('every form of a number and a string of RFC 8259', () => {
    const values =
      '0,-0,1,-12,1.5,-0.5,1e1,1E+2,1e-3,0e0,1.25e10,12345678901234567890,"","\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9","\u007f\u2028😀"';
    accepted(call(`{"name":"a","x":[${values},true,false,null,{},[], { } , [ ] ]}`));
  });
});

const META = 'io.modelcontextprotocol/protocolVersion';

/** Name of the case, body, and beginning of the refusal. */
const REFUSED: readonly (readonly [string, string | Buffer, string])[] = [
  ['nothing', '', '-32700 The body is not valid JSON (byte 0)'],
  ['only space', ' \n', '-32700'],
  ['a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}', '-32700'],
  ['invalid UTF-8', Buffer.from('7b22ff223a317d', 'hex'), '-32700 The body is not valid UTF-8'],
  ['an overlong form', Buffer.from('22c0af22', 'hex'), '-32700 The body is not valid UTF-8'],
  ['a surrogate in UTF-8', Buffer.from('22eda08022', 'hex'), '-32700 The body is not valid UTF-8'],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '-32600 Batches are not supported'],
  ['an empty batch', '[]', '-32600 Batches'],
  ['a text', '"ping"', '-32600 A message must be a JSON object'],
  [
    'trailing bytes',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}{}',
    '-32700 The body has more than one JSON value (byte 40)',
  ],
  ['a trailing NUL', '{"jsonrpc":"2.0","id":1,"method":"ping"}\0', '-32700'],
  ['no version', '{"id":1,"method":"ping"}', '-32600 The message has no "jsonrpc": "2.0"'],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '-32600 The message has no'],
  ['a version as a number', '{"jsonrpc":2.0,"id":1,"method":"ping"}', '-32600 The message has no'],
  ['no method, result or error', '{"jsonrpc":"2.0","id":1}', '-32600 The message must have'],
  ['a result and an error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', '-32600 The message must have'],
  ['a method and a result', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', '-32600 The message has a method'],
  ['a response with params', '{"jsonrpc":"2.0","id":1,"result":{},"params":{}}', '-32600 A response has no params'],
  ['a result without an id', '{"jsonrpc":"2.0","result":{}}', '-32600 The id'],
  ['a result with a null id', '{"jsonrpc":"2.0","id":null,"result":{}}', '-32600 The id'],
  ['an error that is a text', '{"jsonrpc":"2.0","id":1,"error":"no"}', '-32600 The error must be an object'],
  ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', '-32600 The id'],
  ['a fraction as id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', '-32600 The id'],
  ['an integer id with a fraction', '{"jsonrpc":"2.0","id":1.0,"method":"ping"}', '-32600 The id'],
  ['an id with an exponent', '{"jsonrpc":"2.0","id":1e3,"method":"ping"}', '-32600 The id'],
  ['minus zero as id', '{"jsonrpc":"2.0","id":-0,"method":"ping"}', '-32600 The id'],
  ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', '-32600 The id'],
  ['half a surrogate pair as id', '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', '-32600 The id'],
  ['a very long id', `{"jsonrpc":"2.0","id":"${'a'.repeat(1100)}","method":"ping"}`, '-32600 The id'],
  ['a number as method', '{"jsonrpc":"2.0","id":1,"method":5}', '-32600 The method must be a string'],
  ['an empty method', '{"jsonrpc":"2.0","id":1,"method":""}', '-32600 The method must be a string'],
  ['params that are null', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}', '-32600 The params must be'],
  [
    'params that are an array',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["a"]}',
    '-32600 The params must',
  ],
  [
    'a request without an id',
    '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}',
    '-32600 tools/call is a request',
  ],
  [
    'a notification with an id',
    '{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}',
    '-32600 notifications/init',
  ],
  ['a call without params', '{"jsonrpc":"2.0","id":1,"method":"tools/call"}', '-32602 tools/call needs params.name'],
  ['a call without a name', call('{"arguments":{}}'), '-32602 tools/call needs params.name'],
  ['a name that is not a string', call('{"name":null}'), '-32602 tools/call needs params.name'],
  ['a name with half a surrogate pair', call('{"name":"a\\udc00"}'), '-32602 tools/call needs params.name'],
  ['a name with NUL', call('{"name":"drop\\u0000x"}'), '-32602 tools/call needs params.name'],
  ['arguments that are an array', call('{"name":"a","arguments":[]}'), '-32602 params.arguments must be an object'],
  [
    'a ref of an unknown type',
    '{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"x"}}}',
    '-32602',
  ],
  ['a ref that is a text', '{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":"x"}}', '-32602'],
  ['_meta that is an array', call('{"name":"a","_meta":[]}'), '-32602 params._meta must be an object'],
  ['a revision that is not a string', call(`{"name":"a","_meta":{"${META}":1}}`), '-32602 io.modelcontextprotocol'],
  ['a progress token that is an object', call('{"name":"a","_meta":{"progressToken":{}}}'), '-32602 progressToken'],
  [
    'client capabilities that are a text',
    call('{"name":"a","_meta":{"io.modelcontextprotocol/clientCapabilities":""}}'),
    '-32602',
  ],
  [
    'progress without a token',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}',
    '-32602 params.progressToken',
  ],

  [
    'a key twice at the top',
    '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}',
    '-32600 A key occurs twice',
  ],
  ['params twice', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}', '-32600 A key occurs twice'],
  ['an unknown key twice', call('{"name":"a","x":1,"y":2,"x":3}'), '-32600 A key occurs twice'],
  ['an unknown key twice, once escaped', call('{"name":"a","x":1,"\\u0078":3}'), '-32600 A key occurs twice'],
  ['a name twice', call('{"name":"safe","name":"drop"}'), '-32600 A key occurs twice in one object (byte 70)'],
  ['a name in another case', call('{"name":"safe","NAME":"drop"}'), '-32600 A key differs in letter case'],
  ['a name in another case only', call('{"Name":"drop"}'), '-32600 A key differs in letter case'],
  [
    'a name with an escape',
    call('{"name":"safe","n\\u0061me":"drop"}'),
    '-32600 A key of the protocol is written with escapes',
  ],
  ['a name with an escape and case', call('{"name":"safe","\\u004eame":"drop"}'), '-32600 A key differs'],
  ['a name with a NUL behind it', call('{"name":"safe","name\\u0000":"drop"}'), '-32600 A key of the protocol'],
  ['a key with half a surrogate pair', call('{"name":"a","\\ud800":1}'), '-32600 A text has half of a surrogate pair'],
  ['the long s', '{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}', '-32600 A key differs in letter case'],
  ['the long s escaped', '{"j\\u017fonrpc":"2.0","id":1,"method":"ping"}', '-32600 A key differs in letter case'],
  ['the Kelvin sign', call('{"name":"a","ta\u017f\u212aId":"x"}'), '-32600 A key differs in letter case'],
  ['the dotless i', '{"jsonrpc":"2.0","\u0131d":1,"id":2,"method":"ping"}', '-32600 A key differs in letter case'],
  [
    'a key of _meta twice',
    call(`{"name":"a","_meta":{"${META}":"2026-07-28","${META}":"x"}}`),
    '-32600 A key occurs twice',
  ],
  [
    'a key of _meta in another case',
    call(`{"name":"a","_meta":{"${META.toUpperCase()}":"x"}}`),
    '-32600 A key differs',
  ],
  ['_meta in another case', call('{"name":"a","_Meta":{}}'), '-32600 A key differs in letter case'],
  [
    'a key of ref in another case',
    '{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a","URI":"b"}}}',
    '-32600',
  ],
  ['arguments twice', call('{"name":"a","arguments":{},"arguments":{"x":1}}'), '-32600 A key occurs twice'],
  [
    'one level too many',
    call(`{"name":"a","x":${'['.repeat(MAX_DEPTH - 1)}${']'.repeat(MAX_DEPTH - 1)}}`),
    '-32600 The body is nested deeper',
  ],
  ['more than 1,000 unknown keys', call(`{"name":"a",${keys(1001)}}`), '-32600 An object has too many keys'],
  ['endless nesting', '{"a":'.repeat(100_000), '-32600 The body is nested deeper than 256 levels'],
];

describe('scanMessage refuses', () => {
  for (const [reason, body, expected] of REFUSED) {
    test(`${reason}`, () => expect(refusal(body).slice(0, expected.length)).toBe(expected));
  }

  const noJson = [
    '{',
    '{"',
    '{"a',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":1e}',
    '{"a":1e+}',
    '{"a":-}',
    '{"a":0x1}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":tru}',
    '{"a":True}',
    '{"a":truex}',
    '{"a":nul',
    '{"a":"\t"}',
    '{"a":"\u0000"}',
    '{"a":"\n"}',
    '{"a":"\\x41"}',
    '{"a":"\\u12g4"}',
    '{"a":"\\u12"}',
    '{"a":"\\',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1}',
    '{"a":[1 2]}',
    '{"a":{]}',
    '{,}',
    '/**/{}',
    '{}//',
    '{"a":1}\u00a0',
    '\u2028{}',
    '{"a":"1234567\u0001"}',
    '{"a":"12345678\u001f9"}',
    '{"a":[}',
    '{"a":{"b"}}',
    '{"a"::1}',
    '-',
    'tru',
  ];
  for (const text of noJson) {
    test(`${JSON.stringify(text)}, which is not JSON`, () => {
      expect(() => JSON.parse(text)).toThrow();
      expect(refusal(text)).toMatch(/^-32700 /);
    });
  }

  test('a message at every byte at which it can be cut', () => {
    const whole = Buffer.from(
      call('{"name":"a","arguments":{"x":[1.5e3,"é\\n",true,null]},"_meta":{"progressToken":1}}'),
    );
    accepted(whole);
    for (let length = 0; length < whole.length; length += 1) {
      expect(scanMessage(whole.subarray(0, length)).ok, `${length} bytes`).toBe(false);
    }
  });

  test('a message with its id if the id came before the fault', () => {
    const scanned = scanMessage(Buffer.from(call('{"name":"a","NAME":"b"}')));
    expect(scanned).toMatchObject({ ok: false, fault: { id: { json: '1' } } });
  });

  test('a control character, and finds the end of a string, at every position within eight bytes', () => {
    for (let length = 0; length < 40; length += 1) {
      const text = 'é'.repeat(length % 3) + 'x'.repeat(length);
      accepted(call(`{"name":"a","x":"${text}"}`));
      expect(refusal(call(`{"name":"a","x":"${text}\u001f"}`)), `${length}`).toMatch(/^-32700/);
      expect(refusal(call(`{"name":"a","x":"${text}\\"}`)), `${length}`).toMatch(/^-32700/);
    }
  });
});
