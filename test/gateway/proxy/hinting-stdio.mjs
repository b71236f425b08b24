// Runs a stdio server that never responds to resources/read. Like the official SDK, it refuses a request with an id in
// flight.

import { createInterface } from 'node:readline';

const TOOLS = [
  { name: 'read', annotations: { destructiveHint: false } },
  { name: 'remove', annotations: { destructiveHint: true } },
];
const inFlight = new Set();
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  if (inFlight.has(id)) say({ id, error: { code: -32600, message: 'the id is in flight' } });
  else if (method === 'initialize') {
    const { protocolVersion } = params;
    say({
      id,
      result: {
        protocolVersion,
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: 'hinting', version: '1' },
      },
    });
  } else if (method === 'resources/read') {
    inFlight.add(id);
    process.stderr.write('holds a request\n');
  } else if (method === 'tools/list') say({ id, result: { tools: TOOLS } });
  else if (method === 'ping') say({ id, result: {} });
  else if (method !== 'tools/call') say({ id, error: { code: -32601, message: 'Method not found' } });
  else say({ id, result: { content: [{ type: 'text', text: `called ${params?.name}` }] } });
});
