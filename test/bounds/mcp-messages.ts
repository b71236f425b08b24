// Messages of MCP that are as expensive for their size as a stranger can make them, in both eras.

import { type Costly, type JsonValue, jsonValues } from './requests.ts';

const SESSION_HEADERS = { 'mcp-protocol-version': '2025-11-25' };
const STATELESS = '2026-07-28';
const META = `"_meta":{"io.modelcontextprotocol/protocolVersion":"${STATELESS}","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`;

interface Call {
  readonly what: string;
  readonly method: string;
  /** JSON text without its braces. */
  readonly params: () => string;
  /** For `Mcp-Name`. */
  readonly name?: string;
  /** It is larger than what a session keeps, so it is refused with 413 after it was read. */
  readonly refused?: true | undefined;
}

export interface Target {
  readonly tool: string;
  /** JSON of `arguments` with this value where policies read it. */
  readonly argumentsOf: (value: string) => string;
  readonly session: string | undefined;
  /** Messages in addition to calls of the tool: none, long names and descriptions, or all methods. */
  readonly besides: 'nothing' | 'long names' | 'all';
  /** Only the values that most readers take longest for. */
  readonly few: boolean;
}

/** `bytes`: of a whole message. */
export function costlyMessages(
  path: string,
  bytes: number,
  { tool, argumentsOf, session, besides, few }: Target,
): readonly Costly[] {
  const values = jsonValues(bytes - 700);
  const some = values.filter(({ what }) => EACH_METHOD.has(what));
  const calls = (few ? some : values).map((value) => readCall(value, tool, argumentsOf));
  if (besides !== 'nothing') calls.push(...longNames(bytes - 700));
  if (besides === 'all') {
    const kept = jsonValues(INITIALIZE_BYTES - 700).filter(({ what }) => EACH_METHOD.has(what));
    calls.push(...some.flatMap((value) => callsOf(value, tool)), ...subscriptions(bytes - 700));
    calls.push(...some.map((value): Call => ({ ...initializeOf(value), refused: true })), ...kept.map(initializeOf));
  }
  return calls.flatMap((call) => [inSession(path, call, session), stateless(path, call)]);
}

/** Values that most readers take longest for. */
const EACH_METHOD: ReadonlySet<string> = new Set(['many keys', 'many equal records', 'nested lists']);

function readCall({ what, text }: JsonValue, tool: string, argumentsOf: Target['argumentsOf']): Call {
  return {
    what: `tools/call, the argument that policies read: ${what}`,
    method: 'tools/call',
    name: tool,
    params: () => `"name":"${tool}","arguments":${argumentsOf(text())}`,
  };
}

function callsOf({ what, text }: JsonValue, tool: string): readonly Call[] {
  const called = { method: 'tools/call', name: tool };
  return [
    {
      ...called,
      what: `tools/call, another argument: ${what}`,
      params: () => `"name":"${tool}","arguments":{"n":1,"other":${text()}}`,
    },
    { ...called, what: `tools/call, all arguments: ${what}`, params: () => `"name":"${tool}","arguments":${text()}` },
    { what: `tools/list, params: ${what}`, method: 'tools/list', params: () => `"x":${text()}` },
    {
      what: `completion/complete, context: ${what}`,
      method: 'completion/complete',
      params: () => `"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a","value":"a"},"context":${text()}`,
    },
    {
      what: `prompts/get: ${what}`,
      method: 'prompts/get',
      name: 'a',
      params: () => `"name":"a","arguments":${text()}`,
    },
    { what: `logging/setLevel: ${what}`, method: 'logging/setLevel', params: () => `"level":"info","x":${text()}` },
    {
      what: `notifications/progress: ${what}`,
      method: 'notifications/progress',
      params: () => `"progressToken":1,"x":${text()}`,
    },
    { what: `an unknown method: ${what}`, method: 'x/y', params: () => `"x":${text()}` },
  ];
}

/** Sessions keep parts of it, so no more is allowed. */
const INITIALIZE_BYTES = 16 * 1024;

function initializeOf({ what, text }: JsonValue): Call {
  return {
    what: `initialize, capabilities: ${what}`,
    method: 'initialize',
    params: () =>
      `"protocolVersion":"2025-11-25","clientInfo":{"name":"a","version":"1"},"capabilities":{"x":${text()}}`,
  };
}

function longNames(bytes: number): readonly Call[] {
  const long = 'a'.repeat(bytes);
  const slashes = '/'.repeat(bytes);
  return [
    { what: 'tools/call of a long name', method: 'tools/call', params: () => `"name":"${long}"` },
    { what: 'prompts/get of a long name', method: 'prompts/get', params: () => `"name":"${long}"` },
    { what: 'resources/read of a long URI', method: 'resources/read', params: () => `"uri":"notes://${slashes}?"` },
    {
      what: 'resources/read of an URI of 2,000 slashes',
      method: 'resources/read',
      params: () => `"uri":"notes://${'/'.repeat(2000)}?"`,
      name: `notes://${'/'.repeat(2000)}?`,
    },
    {
      what: 'resources/subscribe to a long URI',
      method: 'resources/subscribe',
      params: () => `"uri":"notes://${slashes}"`,
    },
    { what: 'tools/list after a long cursor', method: 'tools/list', params: () => `"cursor":"${long}"` },
    {
      what: 'find_tool with a long description',
      method: 'tools/call',
      name: 'find_tool',
      params: () => `"name":"find_tool","arguments":{"tool_description":"${'find a tool '.repeat(bytes / 12)}"}`,
    },
    {
      what: 'find_tool with many keywords',
      method: 'tools/call',
      name: 'find_tool',
      params: () =>
        `"name":"find_tool","arguments":{"tool_description":"a","tool_keywords":[${Array.from({ length: Math.floor(bytes / 12) }, (_, at) => `"a${at % 1000} b"`).join()}]}`,
    },
    {
      what: 'find_tool with a long keyword',
      method: 'tools/call',
      name: 'find_tool',
      params: () =>
        `"name":"find_tool","arguments":{"tool_description":"a","tool_keywords":["${'find it '.repeat(bytes / 8)}"]}`,
    },
  ];
}

/** A larger subscription is not kept. */
const LISTEN_BYTES = 64 * 1024;

function subscriptions(bytes: number): readonly Call[] {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `"notes://${at.toString(36)}/a"`).join();
  return [100, 1000, Math.floor(bytes / 20)].map((count) => ({
    what: `subscriptions/listen to ${count} resources`,
    method: 'subscriptions/listen',
    params: () => `"notifications":{"resourceSubscriptions":[${many(count)}]}`,
    ...(many(count).length > LISTEN_BYTES ? { refused: true } : {}),
  }));
}

function isNotification(method: string): boolean {
  return method.startsWith('notifications/');
}

function inSession(target: string, { what, method, params, refused }: Call, session: string | undefined): Costly {
  const id = isNotification(method) ? '' : '"id":1,';
  return {
    what: `${what} (session)`,
    target,
    refused,
    headers: { ...TYPES, ...SESSION_HEADERS, ...(session === undefined ? {} : { 'mcp-session-id': session }) },
    body: () => `{"jsonrpc":"2.0",${id}"method":"${method}","params":{${params()}}}`,
  };
}

function stateless(target: string, { what, method, params, name, refused }: Call): Costly {
  const id = isNotification(method) ? '' : '"id":1,';
  const headers = { 'mcp-protocol-version': STATELESS, 'mcp-method': method };
  return {
    what: `${what} (stateless)`,
    target,
    refused,
    headers: { ...TYPES, ...headers, ...(name === undefined ? {} : { 'mcp-name': name }) },
    body: () => `{"jsonrpc":"2.0",${id}"method":"${method}","params":{${META},${params()}}}`,
  };
}

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
