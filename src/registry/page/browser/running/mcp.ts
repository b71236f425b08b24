// Implements an MCP client for servers of the same origin, over streamable HTTP with sessions (MCP 2025-11-25,
// Transports).

import { items, type Members, members, text } from '../json.ts';

export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Members;
  /** True if the tool has a user interface (SEP-1865). */
  readonly hasApp: boolean;
}

export interface Asked {
  readonly progress: (progress: Progress) => void;
  /** Answers a question of the server to its user (elicitation). */
  readonly elicit: (message: string, schema: Members) => Promise<ElicitAnswer>;
}

/** Progress of a call. `total` is absent if unknown. */
export interface Progress {
  readonly done: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export type ElicitAnswer =
  | { readonly action: 'accept'; readonly content: Members }
  | { readonly action: 'decline' | 'cancel' };

export interface McpSession {
  /** Identifiers of the server's extensions. */
  readonly extensions: readonly string[];
  /** The server's instructions for its use. */
  readonly instructions?: string | undefined;
  readonly tools: () => Promise<readonly McpTool[]>;
  /**
   * Calls a tool and returns its result. An abort of the signal cancels the call at the server. Throws an Error whose
   * message is for the reader.
   */
  readonly call: (name: string, given: Members, signal: AbortSignal) => Promise<Members>;
  /** Returns the contents of a resource. Throws an Error whose message is for the reader. */
  readonly read: (uri: string, signal: AbortSignal) => Promise<Members>;
  readonly end: () => void;
}

/** Returns whether the error means that the server requires a token or refused the token. */
export function isTokenRefused(error: unknown): boolean {
  return error instanceof Error && error.cause === UNAUTHORIZED;
}

const UNAUTHORIZED = 401;

const REVISION = '2025-11-25';

interface Link {
  readonly path: string;
  readonly token: string;
  readonly asked: Asked;
  session: string | undefined;
  last: number;
}

export async function openMcp(path: string, token: string, asked: Asked, signal: AbortSignal): Promise<McpSession> {
  const link: Link = { path, token, asked, session: undefined, last: 0 };
  const { capabilities, instructions } = await request(
    link,
    'initialize',
    {
      protocolVersion: REVISION,
      capabilities: { elicitation: { form: {} } },
      clientInfo: { name: 'skep-page', version: '1.0.0' },
    },
    signal,
  );
  await post(link, { jsonrpc: '2.0', method: 'notifications/initialized' }, signal);
  return {
    extensions: Object.keys(members(members(capabilities).extensions)),
    instructions: text(instructions),
    tools: () => listTools(link, signal),
    call: (name, given, ended) => requestCall(link, { name, given, ended }, signal),
    read: (uri, ended) => request(link, 'resources/read', { uri }, ended),
    end: () => {
      // Failures are ignored, because servers end abandoned sessions by themselves.
      void fetch(link.path, { method: 'DELETE', headers: headersOf(link), keepalive: true }).catch(() => undefined);
    },
  };
}

interface Call {
  readonly name: string;
  readonly given: Members;
  /** Aborted if the reader cancels the call. */
  readonly ended: AbortSignal;
}

async function requestCall(link: Link, { name, given, ended }: Call, signal: AbortSignal): Promise<Members> {
  const requestId = link.last + 1;
  const cancel = () => {
    const params = { requestId, reason: 'the reader of the page cancelled it' };
    // Failures are ignored: the reader does not wait for the cancellation.
    post(link, { jsonrpc: '2.0', method: 'notifications/cancelled', params }, signal).catch(() => undefined);
  };
  ended.addEventListener('abort', cancel, { once: true });
  try {
    const params = { name, arguments: given, _meta: { progressToken: requestId } };
    return await request(link, 'tools/call', params, ended);
  } finally {
    ended.removeEventListener('abort', cancel);
  }
}

const MAX_PAGES = 50;

async function listTools(link: Link, signal: AbortSignal): Promise<readonly McpTool[]> {
  const tools: McpTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await request(link, 'tools/list', cursor === undefined ? {} : { cursor }, signal);
    for (const tool of items(result.tools).map(members)) {
      const { name, description, inputSchema, _meta } = tool;
      const { ui, 'ui/resourceUri': older } = members(_meta);
      const hasApp = text(members(ui).resourceUri) !== undefined || text(older) !== undefined;
      tools.push({
        ...{ name: text(name) ?? '', description: text(description) ?? '' },
        ...{ inputSchema: members(inputSchema), hasApp },
      });
    }
    cursor = text(result.nextCursor);
    if (cursor === undefined) break;
  }
  return tools;
}

async function request(link: Link, method: string, params: Members, signal: AbortSignal): Promise<Members> {
  link.last += 1;
  const id = link.last;
  const response = await post(link, { jsonrpc: '2.0', id, method, params }, signal);
  for await (const message of messagesOf(response)) {
    if (message.id === id && message.method === undefined) {
      if (message.error !== undefined) throw new Error(text(members(message.error).message) ?? 'The server refused.');
      return members(message.result);
    }
    void answerServer(link, message, signal);
  }
  throw new Error('The server ended its response without a result.');
}

/** Handles notifications and requests that precede the result. */
async function answerServer(link: Link, { method, id, params }: Members, signal: AbortSignal): Promise<void> {
  const given = members(params);
  if (method === 'notifications/progress') {
    const { progress, total, message } = given;
    link.asked.progress({ done: Number(progress), total: readTotal(total), message: text(message) });
  }
  if (id === undefined || method === undefined) return;
  if (method !== 'elicitation/create') {
    await post(
      link,
      { jsonrpc: '2.0', id, error: { code: -32601, message: 'This client does not support that request.' } },
      signal,
    );
    return;
  }
  const result = await link.asked.elicit(text(given.message) ?? '', members(given.requestedSchema));
  await post(link, { jsonrpc: '2.0', id, result }, signal);
}

function readTotal(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function headersOf({ token, session }: Link): Record<string, string> {
  return {
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...(session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': REVISION }),
  };
}

async function post(link: Link, message: object, signal: AbortSignal): Promise<Response> {
  const response = await fetch(link.path, {
    method: 'POST',
    headers: {
      ...headersOf(link),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(message),
    signal,
    credentials: 'omit',
    redirect: 'error',
  });
  link.session ??= response.headers.get('mcp-session-id') ?? undefined;
  if (!response.ok) throw await refusalOf(response);
  return response;
}

async function refusalOf(response: Response): Promise<Error> {
  const body = await response.text();
  const reason = reasonIn(body);
  if (response.status !== UNAUTHORIZED) return new Error(`${response.status}: ${reason ?? response.statusText}`);
  const message = `The server does not accept the token${reason === undefined ? '.' : `: ${reason}`}`;
  return new Error(message, { cause: UNAUTHORIZED });
}

function reasonIn(body: string): string | undefined {
  try {
    const { error } = members(JSON.parse(body));
    return text(error) ?? text(members(error).message);
  } catch {
    return undefined;
  }
}

/** Yields the messages of a response, which is JSON or an event stream. */
async function* messagesOf(response: Response): AsyncGenerator<Members> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream')) {
    if (response.status !== 202) yield members(await response.json());
    return;
  }
  if (response.body === null) return;
  let rest = '';
  for await (const chunk of chunksOf(response.body.pipeThrough(new TextDecoderStream()))) {
    const blocks = `${rest}${chunk.replaceAll('\r\n', '\n')}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart())
        .join('\n');
      if (data !== '') yield members(JSON.parse(data));
    }
  }
}

async function* chunksOf(stream: ReadableStream<string>): AsyncGenerator<string> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
