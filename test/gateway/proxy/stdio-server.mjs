// Runs a small stdio MCP server. The result of each tool describes how the process was started.

import { createInterface } from 'node:readline';

const PROTOCOL = '2025-11-25';

function resultOf(method) {
  if (method === 'initialize') {
    return { protocolVersion: PROTOCOL, capabilities: { tools: {} }, serverInfo: { name: 'streams', version: '1' } };
  }
  if (method === 'tools/list') return { tools: [] };
  if (method === 'ping') return {};
  if (method !== 'tools/call') return undefined;
  const facts = { pid: process.pid, args: process.argv.slice(2), story: process.env.STORY, cwd: process.cwd() };
  return { content: [{ type: 'text', text: JSON.stringify(facts) }] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined || method === undefined) continue;
  const result = resultOf(method);
  const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
