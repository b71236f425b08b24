// A server whose starts are counted, over standard streams or over HTTP. Arguments: stdio or http, and a file that gets a
// line for each start. Its tool tells the process it runs in; while a file `<file>.broken` exists it ends at its start.

import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [, , mode, file] = process.argv;
appendFileSync(file, `${process.pid}\n`);
if (existsSync(`${file}.broken`)) process.exit(3);

function answer({ id, method, params }) {
  const reply = (result) => ({ jsonrpc: '2.0', id, result });
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      return reply({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'sleeper', version: '1' } });
    }
    case 'tools/list':
      return reply({
        tools: [{ name: 'whoami', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
      });
    case 'tools/call':
      return reply({ content: [{ type: 'text', text: String(process.pid) }] });
    case 'ping':
      return reply({});
    default:
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
  }
}

if (mode === 'stdio') {
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const message = JSON.parse(line);
      if (message.id !== undefined && message.method !== undefined)
        process.stdout.write(`${JSON.stringify(answer(message))}\n`);
    })
    .on('close', () => process.exit(0));
} else {
  // Without sessions: each request stands alone.
  createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const message = JSON.parse(Buffer.concat(chunks).toString());
      if (message.id === undefined) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(message)));
    });
  }).listen(Number(process.env.MCP_PORT), '127.0.0.1');
}
