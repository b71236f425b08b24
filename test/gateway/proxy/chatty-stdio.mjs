// Runs a stdio server whose lists contain hidden items. After `initialized`, it sends a list that was not requested.

import { createInterface } from 'node:readline';

const TOOLS = [{ name: 'a' }, { name: 'hidden' }];
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'notifications/initialized') {
    say({ id: 1, result: { tools: TOOLS } });
    say({ method: 'notifications/tools/list_changed' });
  }
  if (id === undefined || method === undefined) return;
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const capabilities = { tools: { listChanged: true } };
    say({ id, result: { protocolVersion, capabilities, serverInfo: { name: 'chatty', version: '1' } } });
  } else if (method === 'tools/list') say({ id, result: { tools: TOOLS } });
  else if (method === 'ping') say({ id, result: {} });
  else if (method !== 'tools/call') say({ id, error: { code: -32601, message: 'Method not found' } });
  else say({ id, result: { content: [{ type: 'text', text: `called ${params?.name}` }] } });
});
