// An identity provider for the bench: its keys, and one token.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export interface BenchIssuer {
  readonly url: string;
  readonly token: string;
  readonly server: Server;
}

/** Keys behind a URL, and a token that they verify. */
export async function startBenchIssuer(): Promise<BenchIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' };
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = await new SignJWT({ scope: 'mcp-registry:read' })
    .setProtectedHeader({ alg: 'RS256', kid: 'bench' })
    .setIssuer(url)
    .setAudience('bench')
    .setExpirationTime('1h')
    .sign(privateKey);
  return { url, token, server };
}
