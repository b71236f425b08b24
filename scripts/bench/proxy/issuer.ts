// An issuer of tokens over loopback: its keys behind a URL, and a token for each of many callers.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export const AUDIENCE = 'bench';

export interface ProxyIssuer {
  readonly url: string;
  readonly jwksUrl: string;
  /** Each of another caller. */
  readonly tokens: readonly string[];
  stop(): void;
}

export async function startProxyIssuer(callers: number): Promise<ProxyIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' };
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const numbers = Array.from({ length: callers }, (_, index) => index);
  const tokens = await Promise.all(
    numbers.map((number) =>
      new SignJWT({ groups: ['engineering', 'operators'], name: `Caller ${number}` })
        .setProtectedHeader({ alg: 'RS256', kid: 'bench' })
        .setIssuer(url)
        .setAudience(AUDIENCE)
        .setSubject(`caller-${number}`)
        .setExpirationTime('2h')
        .sign(privateKey),
    ),
  );
  return { url, jwksUrl: `${url}/jwks`, tokens, stop: () => server.close() };
}
