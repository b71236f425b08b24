// Runs a stdio server for tests. The first argument defines its behaviour:
//   cat           writes each line back, and a note about it to stderr
//   flood BYTES   waits for a line, writes the number of bytes, ends
//   mcp           serves MCP 2025-11-25 with the tools in TOOLS
//   strict        like mcp, but ends at a message before initialize
//   modern        serves MCP 2026-07-28

import { createInterface } from 'node:readline';

const [mode, size] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });

function write(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

const text = (value) => ({ content: [{ type: 'text', text: value }] });

/** Functions by tool name. They return the result, or undefined if they write the response themselves or never. */
const TOOLS = {
  echo: ({ params }) => text(JSON.stringify(params.arguments)),
  /** Returns the received line. */
  raw: (_, line) => text(line),
  pid: () => text(String(process.pid)),
  never: () => undefined,
  exit: () => process.exit(3),
  /** Returns `size` characters. */
  large: ({ params }) => text('x'.repeat(params.arguments.size)),
  /** Writes the response in two parts. */
  half({ id }) {
    const line = `${JSON.stringify({ jsonrpc: '2.0', id, result: text('whole') })}\n`;
    process.stdout.write(line.slice(0, 20));
    setTimeout(() => process.stdout.write(line.slice(20)), 20);
  },
  progress({ id, params }) {
    const { progressToken } = params._meta ?? {};
    for (const progress of [1, 2, 3]) write({ method: 'notifications/progress', params: { progressToken, progress } });
    write({ id, result: text('done') });
  },
  /** Writes `count` notifications of `size` characters, then the result. Waits while the client does not read. */
  async flood({ id, params }) {
    const { count, size: length } = params.arguments;
    const { progressToken } = params._meta ?? {};
    const data = 'x'.repeat(length);
    for (let at = 0; at < count; at += 1) {
      const note =
        progressToken === undefined
          ? { method: 'notifications/message', params: { level: 'info', data } }
          : { method: 'notifications/progress', params: { progressToken, progress: at, message: data } };
      const line = `${JSON.stringify({ jsonrpc: '2.0', ...note })}\n`;
      if (!process.stdout.write(line)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
    write({ id, result: text('flooded') });
  },
  log({ id, params }) {
    write({ method: 'notifications/message', params: { level: 'info', data: params.arguments.text } });
    write({ id, result: text('logged') });
  },
  changed({ id }) {
    write({ method: 'notifications/tools/list_changed' });
    write({ id, result: text('changed') });
  },
  updated({ id, params }) {
    write({ method: 'notifications/resources/updated', params: { uri: params.arguments.uri } });
    write({ id, result: text('updated') });
  },
  /** Sends a request to the client. The result of the call contains the client's response. */
  ask({ id, params }) {
    asked.set(`ask-${id}`, id);
    write({ id: `ask-${id}`, method: params.arguments.method, params: params.arguments.params });
  },
  /** Writes `count` characters in Latin-1. */
  latin1({ id, params }) {
    const result = text('é'.repeat(params.arguments.count));
    process.stdout.write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`, 'latin1'));
  },
  garbage({ id }) {
    process.stdout.write('this is no message\n\n[1,2]\n{"broken"\n');
    process.stderr.write('a word for the log\n');
    write({ id: 'nobody asked', result: {} });
    write({ id, result: text('after garbage') });
  },
  /** Writes `size` bytes without a line break. */
  endless: ({ params }) => void process.stdout.write('x'.repeat(params.arguments.size)),
  cancelled: () => text(JSON.stringify(cancelled)),
  subscriptions: () => text(JSON.stringify(subscribed)),
};

let greeted = false;
const asked = new Map();
const cancelled = [];
const subscribed = [];

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true }, logging: {}, resources: { subscribe: true }, tasks: { list: {} } },
  serverInfo: { name: 'fixture', version: '1' },
};

async function serveSession(line) {
  const message = JSON.parse(line);
  const { id, method, params } = message;
  if (method === 'initialize') write({ id, result: INITIALIZED });
  else if (method === 'ping') write({ id, result: {} });
  else if (method === 'tools/list') {
    write({ id, result: { tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })) } });
  } else if (method === 'tools/call') {
    const result = await TOOLS[params.name](message, line);
    if (result !== undefined) write({ id, result });
  } else if (method === 'notifications/cancelled') cancelled.push(params.requestId);
  else if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
    subscribed.push(`${method} ${params.uri}`);
    write({ id, result: {} });
  } else if (method === undefined && asked.has(id)) {
    write({ id: asked.get(id), result: text(JSON.stringify(message.result ?? message.error)) });
    asked.delete(id);
  } else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
}

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const listening = [];
/** Functions that send the delayed responses to `server/discover`, after a log message. */
const waiting = [];

function serveStateless(line) {
  const message = JSON.parse(line);
  const { id, method, params } = message;
  const done = (result) => write({ id, result: { resultType: 'complete', ...result } });
  if (method === 'server/discover' && params.untilLog === true) {
    waiting.push(done);
  } else if (method === 'server/discover') {
    done({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      serverInfo: { name: 'modern', version: '1' },
    });
  } else if (method === 'subscriptions/listen') {
    listening.push(id);
    const acknowledged = { _meta: { [SUBSCRIPTION]: id }, notifications: params.notifications };
    write({ method: 'notifications/subscriptions/acknowledged', params: acknowledged });
  } else if (method === 'tools/call' && params.name === 'changed') {
    for (const each of listening) {
      write({ method: 'notifications/tools/list_changed', params: { _meta: { [SUBSCRIPTION]: each } } });
    }
    done(text('changed'));
  } else if (method === 'tools/call' && params.name === 'log') {
    write({ method: 'notifications/message', params: { level: 'info', data: params.arguments.text } });
    for (const answer of waiting.splice(0)) answer({ supportedVersions: ['2026-07-28'], capabilities: {} });
    done(text('logged'));
  } else if (method === 'tools/call' && params.name === 'over') {
    for (const each of listening.splice(0)) {
      write({ id: each, result: { resultType: 'complete', _meta: { [SUBSCRIPTION]: each } } });
    }
    done(text('over'));
  } else if (method === 'tools/call' && params.name === 'cancelled') done(text(JSON.stringify(cancelled)));
  else if (method === 'tools/call' && params.name === 'never') return;
  else if (method === 'tools/call') done(text(JSON.stringify(params.arguments)));
  else if (method === 'notifications/cancelled') cancelled.push(params.requestId);
  else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
}

async function writeFlood(bytes) {
  const chunk = Buffer.alloc(100_000, 'x');
  for (let at = 0; at < bytes; at += chunk.length) {
    if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  process.stdout.end(() => process.exit(0));
}

lines.on('line', (line) => {
  if (mode === 'cat') process.stderr.write(`cat of ${line.slice(0, 20)}\n`, () => process.stdout.write(`${line}\n`));
  else if (mode === 'flood') void writeFlood(Number(size));
  else if (mode === 'modern') serveStateless(line);
  else if (mode === 'strict' && !greeted && !line.includes('"initialize"')) process.exit(1);
  else {
    greeted = true;
    void serveSession(line);
  }
});
