// Tests audit events, field by field. In one file, because each test changes one part of the same example input.

import { describe, expect, it, test } from 'vitest';
import { scanMessage } from '../wire/scan.ts';
import { type AuditInput, auditEvent, auditLine, auditOutcome } from './audit.ts';
import { AUDIT_TYPES } from './audit-types.ts';

const INPUT: AuditInput = {
  auditId: '00000000-0000-4000-8000-000000000000',
  timeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  durationMs: 12.4,
  component: 'weather',
  httpMethod: 'POST',
  path: '/mcp',
  stream: false,
  status: 200,
  answer: 'success',
  source: { peer: '192.0.2.1', trusted: false, userAgent: 'client/1', requestId: 'r1' },
  claims: { sub: 'u1', name: 'Alice' },
  transport: 'http',
  responseBytes: 10,
};

function messageOf(value: unknown) {
  const scanned = scanMessage(Buffer.from(JSON.stringify(value)));
  if (!scanned.ok) throw new Error(scanned.fault.message);
  return scanned.message;
}

function call(method: string, params: unknown = {}) {
  const id = method.startsWith('notifications/') ? undefined : 1;
  return messageOf({ jsonrpc: '2.0', id, method, params });
}

const EVERY = {
  name: 'x',
  uri: 'x',
  ref: { type: 'ref/prompt', name: 'x' },
  taskId: 'x',
  requestId: 1,
  progressToken: 1,
};

it('formats the time to the millisecond, whatever time was formatted before', () => {
  const second = Date.UTC(2026, 11, 31, 23, 59, 59);
  for (const ms of [second, second + 7, second + 999, second + 1000, second + 1010, second + 5, 0, 1]) {
    expect(auditEvent({ ...INPUT, timeMs: ms }).time).toBe(new Date(ms).toISOString());
  }
});

it('contains caller, action, target and outcome, in the fields of the audit log of ToolHive', () => {
  const message = call('tools/call', { name: 'forecast', arguments: { secret: 'hunter2' } });
  const event = auditEvent({
    ...INPUT,
    message,
    backendName: 'get_forecast',
    client: { name: 'inspector', version: '2' },
  });
  expect(JSON.parse(auditLine(event))).toEqual({
    time: '2026-01-02T03:04:05.006Z',
    level: 'INFO+2',
    msg: 'audit_event',
    audit_id: '00000000-0000-4000-8000-000000000000',
    type: 'mcp_tool_call',
    logged_at: '2026-01-02T03:04:05.006Z',
    outcome: 'success',
    component: 'weather',
    source: { type: 'network', value: '192.0.2.1', extra: { user_agent: 'client/1', request_id: 'r1' } },
    subjects: { user: 'Alice', user_id: 'u1', client_name: 'inspector', client_version: '2' },
    target: { endpoint: '/mcp', method: 'tools/call', type: 'tool', name: 'forecast' },
    metadata: { extra: { duration_ms: 12, transport: 'http', response_size_bytes: 10, backend_name: 'get_forecast' } },
  });
});

describe('types', () => {
  test.each<readonly [method: string, type: string]>([
    ['initialize', 'mcp_initialize'],
    ['tools/call', 'mcp_tool_call'],
    ['tools/list', 'mcp_tools_list'],
    ['resources/read', 'mcp_resource_read'],
    ['resources/list', 'mcp_resources_list'],
    ['prompts/get', 'mcp_prompt_get'],
    ['prompts/list', 'mcp_prompts_list'],
    ['notifications/initialized', 'mcp_notification'],
    ['notifications/roots/list_changed', 'mcp_roots_list_changed'],
    ['ping', 'mcp_ping'],
    ['logging/setLevel', 'mcp_logging'],
    ['completion/complete', 'mcp_completion'],
    ['resources/subscribe', 'mcp_request'],
    ['server/discover', 'mcp_request'],
    ['strange', 'mcp_request'],
  ])('%s is %s', (method, type) => {
    expect(auditEvent({ ...INPUT, message: call(method, EVERY) }).type).toBe(type);
    expect(AUDIT_TYPES).toContain(type);
  });

  it('names requests that are not messages of MCP', () => {
    expect(auditEvent({ ...INPUT, httpMethod: 'PUT' })).toMatchObject({
      type: 'http_request',
      target: { method: 'PUT' },
    });
    expect(auditEvent({ ...INPUT, httpMethod: 'GET', stream: true }).type).toBe('sse_connection');
    expect(auditEvent({ ...INPUT, message: messageOf({ jsonrpc: '2.0', id: 1, result: {} }) }).type).toBe(
      'mcp_request',
    );
  });
});

describe('outcomes', () => {
  const contents = { settings: { request: false, response: false, maxBytes: 0, readsErrors: false } };

  test.each<readonly [reason: string, input: Partial<AuditInput>, outcome: string]>([
    ['a tool that failed', { answer: 'tool-error' }, 'success'],
    ['an error over 200', { answer: 'error', rpcErrorCode: -32603 }, 'success'],
    ['a tool that the filter leaves out', { answer: 'error', refusal: 'tool-unknown' }, 'denied'],
    ['a server that cannot be reached', { status: 502, answer: 'error' }, 'error'],
  ])('%s, if only the status decides', (_reason, input, outcome) => {
    expect(auditOutcome({ ...INPUT, ...input, contents })).toBe(outcome);
  });

  test.each<readonly [reason: string, input: Partial<AuditInput>, outcome: string]>([
    ['an answer', {}, 'success'],
    ['an accepted notification', { status: 202, answer: 'unknown' }, 'success'],
    ['a tool that failed', { answer: 'tool-error' }, 'failure'],
    ['an error over 200', { answer: 'error', rpcErrorCode: -32602 }, 'failure'],
    ['an internal error over 200', { answer: 'error', rpcErrorCode: -32603 }, 'error'],
    ['no token', { status: 401 }, 'denied'],
    ['a policy', { status: 403, answer: 'error', refusal: 'policy-denied' }, 'denied'],
    ['a tool that the filter leaves out', { answer: 'error', refusal: 'tool-unknown' }, 'denied'],
    ['ambiguous arguments', { status: 400, answer: 'error', refusal: 'policy-arguments-ambiguous' }, 'denied'],
    ['a bad request', { status: 400, answer: 'error', refusal: 'protocol' }, 'failure'],
    ['too many requests', { status: 429, refusal: 'rate-exceeded-caller' }, 'failure'],
    ['a server that cannot be reached', { status: 502 }, 'error'],
  ])('%s', (_reason, input, outcome) => {
    expect(auditOutcome({ ...INPUT, ...input })).toBe(outcome);
    expect(auditEvent({ ...INPUT, ...input })).toMatchObject({
      outcome,
      metadata: { extra: { refusal: input.refusal } },
    });
  });
});

describe('source', () => {
  test.each<readonly [reason: string, source: Partial<AuditInput['source']>, value: string]>([
    ['the connection without trust', { forwardedFor: '203.0.113.9', realIp: '203.0.113.8' }, '192.0.2.1'],
    ['the first forwarded address', { trusted: true, forwardedFor: '203.0.113.9, 10.0.0.1' }, '203.0.113.9'],
    ['the real address', { trusted: true, realIp: '2001:db8::1' }, '2001:db8::1'],
    ['an address with a port', { trusted: true, forwardedFor: '203.0.113.9:4711' }, '203.0.113.9'],
    ['IPv6 with a port', { trusted: true, forwardedFor: '[2001:db8::1]:4711' }, '2001:db8::1'],
    ['the connection if the header is not an address', { trusted: true, forwardedFor: 'x"\n{}' }, '192.0.2.1'],
    ['the connection if nothing was forwarded', { trusted: true }, '192.0.2.1'],
  ])('is %s', (_reason, source, value) => {
    expect(auditEvent({ ...INPUT, source: { ...INPUT.source, ...source } }).source.value).toBe(value);
  });
});

describe('user', () => {
  test.each<readonly [claims: AuditInput['claims'], user: string]>([
    [{ sub: 's', name: 'Alice', preferred_username: 'alice', email: 'a@b' }, 'Alice'],
    [{ sub: 's', preferred_username: 'alice', email: 'a@b' }, 'alice'],
    [{ sub: 's', email: 'a@b' }, 'a@b'],
    [{ sub: 's', name: ['x'] }, 'anonymous'],
    [{}, 'anonymous'],
  ])('of %j is %s', (claims, user) => {
    expect(auditEvent({ ...INPUT, claims }).subjects.user).toBe(user);
  });
});

/** Returns true for control characters, line ends, and characters that reverse the direction of text. */
function isUnsafe(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e);
}

describe('lines', () => {
  const HOSTILE = [
    '"',
    '\n',
    '\r\n{"msg":"audit_event"}',
    '\u2028',
    '\u2029',
    '\u0085',
    '\u0000',
    '\u001b[31m',
    '\u202e',
    '\ud800',
    '🐝',
    '\\',
  ];

  it.each(HOSTILE)('stay one line of JSON with %j', (text) => {
    const wellFormed = text.toWellFormed().replaceAll('\0', 'NUL');
    const message = call('tools/call', { name: wellFormed });
    const line = auditLine(
      auditEvent({
        ...INPUT,
        message,
        path: text,
        claims: { sub: text, name: text, email: text },
        client: { name: text, version: text },
        source: { ...INPUT.source, userAgent: text, requestId: text },
        backendName: text,
      }),
    );
    expect(Array.from(line).filter(isUnsafe)).toEqual([]);
    const { subjects, target } = JSON.parse(line);
    expect([subjects.user, subjects.user_id, target.name, target.endpoint]).toEqual([text, text, wellFormed, text]);
  });

  it('have a maximum length for every request', () => {
    const long = 'x'.repeat(1_000_000);
    const message = call('tools/call', { name: long });
    const source = { ...INPUT.source, userAgent: long, requestId: long };
    const line = auditLine(
      auditEvent({ ...INPUT, message, path: long, source, claims: { sub: long, name: long }, backendName: long }),
    );
    expect(line.length).toBeLessThan(6000);
    expect(auditLine(auditEvent({ ...INPUT, message: call(long) })).length).toBeLessThan(6000);
  });

  it('contain no argument, token or password', () => {
    const message = call('tools/call', {
      name: 'x',
      arguments: { key: 'hunter2' },
      _meta: { progressToken: 'hunter2' },
    });
    const uri = call('resources/read', { uri: 'https://user:hunter2@example.com/a' });
    const claims = { sub: 'u1', jti: 'hunter2', nonce: 'hunter2' };
    for (const each of [message, uri])
      expect(auditLine(auditEvent({ ...INPUT, message: each, claims }))).not.toContain('hunter2');
    expect(auditEvent({ ...INPUT, message: uri }).target.name).toBe('https://example.com/a');
  });
});

test('contents that are nested too deeply for JSON are written as text', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const dataOf = (response: string) => {
    const settings = { request: false, response: true, maxBytes: 60_000, readsErrors: true };
    const event = auditEvent({ ...INPUT, contents: { settings, response: Buffer.from(response) } });
    return JSON.parse(auditLine(event)).data.response;
  };
  expect(dataOf(nested(256))).toEqual(JSON.parse(nested(256)));
  for (const levels of [257, 30_000]) expect(dataOf(nested(levels)) === nested(levels)).toBe(true);
});

test('an event contains a message before and after webhooks changed it if the settings request contents', () => {
  const [request, received] = ['{"n":2}', '{"n":1}'].map((text) => Buffer.from(text));
  const dataOf = (asked: boolean, maxBytes = 100) => {
    const settings = { request: asked, response: false, maxBytes, readsErrors: true };
    return auditEvent({ ...INPUT, contents: { settings, request, received } }).data;
  };
  expect(dataOf(true)).toEqual({ request: { n: 2 }, received_request: { n: 1 }, response: undefined });
  expect(dataOf(true, 6)).toBeUndefined();
  expect(dataOf(false)).toBeUndefined();
});
