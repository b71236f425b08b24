// An identity provider on loopback: JWTs whose keys change now and then, and opaque tokens that it is asked about.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export interface Issuer {
  readonly url: string;
  /** A JWT; `seconds` below 0: one that has expired. */
  token(scope: string, seconds: number): Promise<string>;
  /** One that only the provider can tell from others, good for an hour. */
  opaque(): string;
  /** Tokens are signed by another key from now on; the ones before are still known. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

export const AUDIENCE = 'soak';
/** A token is good for longer than its key is the newest one. */
const KEYS = 6;
const OPAQUE = 'soak-opaque-';

export async function startIssuer(): Promise<Issuer> {
  let made = 0;
  let keys: readonly JWK[] = [];
  let current = await generateKeyPair('RS256');
  const server = createServer((request, response) => {
    if (request.url === '/introspect') void introspect(request, response, url);
    else response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kid = () => String(keys[0]?.kid);

  async function rotate(): Promise<void> {
    current = await generateKeyPair('RS256');
    made += 1;
    const jwk = { ...(await exportJWK(current.publicKey)), kid: `key-${made}`, alg: 'RS256', use: 'sig' };
    keys = [jwk, ...keys].slice(0, KEYS);
  }

  await rotate();
  return {
    url,
    token: (scope, seconds) =>
      new SignJWT({ scope })
        .setProtectedHeader({ alg: 'RS256', kid: kid() })
        .setIssuer(url)
        .setAudience(AUDIENCE)
        .setExpirationTime(new Date(Date.now() + seconds * 1000))
        .sign(current.privateKey),
    opaque() {
      made += 1;
      return `${OPAQUE}${made}`;
    },
    rotate,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** RFC 7662. */
async function introspect(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const token = new URLSearchParams(Buffer.concat(chunks).toString()).get('token') ?? '';
  const claims = { iss: url, aud: AUDIENCE, scope: 'mcp-registry:read', exp: Math.floor(Date.now() / 1000) + 3600 };
  const answer = token.startsWith(OPAQUE) ? { active: true, ...claims } : { active: false };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}
