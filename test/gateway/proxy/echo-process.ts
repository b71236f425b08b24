// A server that repeats who asked what, as a program: tests end it while it works. Argument: its port, 0 for any.

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
    // Answers overtake one another.
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
