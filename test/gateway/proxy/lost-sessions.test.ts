// Tests that a client gets 404 for an ended session, even if the server responds with 400, and then begins a new
// session.

import { afterAll, expect, test } from 'vitest';
import { answerPlainly, call, HEADERS, INITIALIZE, proxyBefore, type Received, startServer, stopAll } from './rig.ts';

afterAll(stopAll);

const error = (code: number, message: string) => JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });

async function answerOf(refusal: string): Promise<{ status: number; text: string; begun: number }> {
  let known = true;
  const server = await startServer((received: Received) => {
    if (known || received.message?.method === 'initialize') answerPlainly(received);
    else received.response.writeHead(400, { 'content-type': 'application/json' }).end(refusal);
  });
  const proxy = await proxyBefore(server.port);
  const send = (message: object, headers = {}) =>
    fetch(proxy.url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify(message) });
  const first = await send(INITIALIZE);
  const session = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' };
  await first.text();
  // Simulates a replaced pod: the new pod knows no sessions.
  known = false;
  const answer = await send(call('a'), session);
  const again = await send(INITIALIZE);
  await again.text();
  return { status: answer.status, text: await answer.text(), begun: again.status };
}

test.each([
  ['the example of the official SDK', error(-32000, 'Bad Request: No valid session ID provided')],
  ['a transport that was not begun', error(-32000, 'Bad Request: Server not initialized')],
  ['the code of an unknown session', error(-32001, 'gone')],
  ['plain text', 'Invalid or missing session ID'],
])('a 400 with %s becomes a 404 for the client', async (_words, refusal) => {
  const { status, text, begun } = await answerOf(refusal);
  expect([status, JSON.parse(text).error.message, begun]).toEqual([404, 'Session not found', 200]);
});

test.each([
  ['another mistake', error(-32000, 'Bad Request: Unsupported protocol version')],
  ['another code', error(-32602, 'the session parameter is missing')],
  ['more than a refusal has', error(-32000, `session ${'x'.repeat(20_000)}`)],
])('a 400 with %s passes unchanged', async (_words, refusal) => {
  expect(await answerOf(refusal)).toMatchObject({ status: 400, text: refusal });
});
