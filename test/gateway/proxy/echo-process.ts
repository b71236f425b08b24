// Runs a server that responds with caller and arguments of a call, as a process that tests can kill. Argument: the
// port, or 0 for any free port.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    const result = { nonce: params?.arguments?.nonce, subject: subjectOf(request.headers.authorization ?? '') };
    const answer = () =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    // Different delays change the order of responses.
    setTimeout(answer, (Number(/\d+$/.exec(String(result.nonce))?.[0] ?? 0) * 7) % 10);
  });
});

function subjectOf(authorization: string): unknown {
  const [, claims = ''] = authorization.split('.');
  return claims === '' ? undefined : JSON.parse(Buffer.from(claims, 'base64url').toString()).sub;
}

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const { port }: AddressInfo = Object(server.address());
  process.stdout.write(`port ${port}\n`);
});
