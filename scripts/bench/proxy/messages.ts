// What client and server of the bench say: calls of 1 KB and answers of 1 KB, each id in as many digits, so that bytes are
// patched and never built again.

export const REVISION = '2025-11-25';
export const TOOL = 'echo';
export const LARGE_TOOL = 'large';
/** The answer of the large tool, as a whole event of a stream. */
export const LARGE_STREAM_TOOL = 'large_stream';
export const LARGE_BYTES = 100 * 1024 * 1024;

/** Ids have seven digits. */
export const FIRST_ID = 1_000_000;
const TEXT_BYTES = 1024;

const ID_MARK = Buffer.from('"id":');
const TOOL_CALL = Buffer.from('"method":"tools/call"');
const LARGE_MARK = Buffer.from(`"name":"${LARGE_TOOL}`);

export interface CallTemplate {
  readonly body: Buffer;
  /** Where the digits of the id are, in all places: an argument has them too, so that no two calls are alike. */
  readonly places: readonly number[];
}

export function callTemplate(tool = TOOL): CallTemplate {
  const named = { city: `c${FIRST_ID}`, days: 3 };
  const filling = TEXT_BYTES - JSON.stringify({ ...named, text: '' }).length;
  const params = { name: tool, arguments: { ...named, text: 'x'.repeat(filling) } };
  return templateOf(JSON.stringify({ jsonrpc: '2.0', id: FIRST_ID, method: 'tools/call', params }));
}

export function listTemplate(): CallTemplate {
  return templateOf(JSON.stringify({ jsonrpc: '2.0', id: FIRST_ID, method: 'tools/list', params: {} }));
}

export function answerTemplate(): CallTemplate {
  const result = { content: [{ type: 'text', text: 'y'.repeat(TEXT_BYTES) }], isError: false };
  return templateOf(JSON.stringify({ jsonrpc: '2.0', id: FIRST_ID, result }));
}

function templateOf(text: string): CallTemplate {
  const digits = String(FIRST_ID);
  const places: number[] = [];
  for (let at = text.indexOf(digits); at >= 0; at = text.indexOf(digits, at + 1)) places.push(at);
  return { body: Buffer.from(text), places };
}

/** In place. */
export function writeId(bytes: Buffer, place: number, id: number): void {
  let rest = id;
  for (let at = place + 6; at >= place; at -= 1) {
    bytes[at] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

export function initializeText(): string {
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
}

export const INITIALIZED_TEXT = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });

/** The bytes after `"id":` of a quick call; undefined for all other messages. */
export function quickCallId(body: Buffer): Buffer | undefined {
  if (!body.includes(TOOL_CALL) || body.includes(LARGE_MARK)) return undefined;
  const start = body.indexOf(ID_MARK) + ID_MARK.length;
  let end = start;
  while (end < body.length && body[end] !== 0x2c && body[end] !== 0x7d) end += 1;
  return body.subarray(start, end);
}

export interface ReadMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

/** The answer to a request other than a call; undefined where it has none. */
export function answerText({ id, method }: ReadMessage): string | undefined {
  if (id === undefined || method === undefined) return undefined;
  const result = RESULTS[method];
  if (result !== undefined) return JSON.stringify({ jsonrpc: '2.0', id, result });
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } });
}

const TOOLS = [TOOL, LARGE_TOOL, LARGE_STREAM_TOOL].map((name) => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
}));

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: REVISION,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'bench', version: '1' },
  },
  'tools/list': { tools: TOOLS },
  ping: {},
};
