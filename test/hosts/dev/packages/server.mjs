#!/usr/bin/env node
// An MCP server over standard streams, without dependencies, as the program of a package: it says what it was started with.

import { createInterface } from 'node:readline';

const TOOL = { name: 'describe_start', description: 'How it was started.', inputSchema: { type: 'object' } };

function resultOf(method) {
  if (method === 'initialize') {
    const serverInfo = { name: 'bees', version: '1.2.3' };
    return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
  }
  if (method === 'tools/list') return { tools: [TOOL] };
  if (method !== 'tools/call') return undefined;
  const start = { args: process.argv.slice(2), variables: Object.keys(process.env).sort() };
  return { content: [{ type: 'text', text: JSON.stringify(start) }] };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = resultOf(method);
  const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
