// Starts a real OpenID provider on 127.0.0.1. Tests can rotate its keys, stop it, read its request counts, and sign
// forged tokens with its keys.

import { createServer, type RequestListener } from 'node:http';
import {
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { Provider } from 'oidc-provider';

export type IssuerAlgorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';
const ALGORITHMS: readonly IssuerAlgorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Client that may introspect every token (RFC 7662). */
export const INTROSPECTION_CLIENT = { id: 'the registry', secret: 'p%ss:w+rd & more' } as const;

export interface Issuer {
  /** URL of the provider, and the `iss` of its tokens. */
  readonly url: string;
  readonly jwksUrl: string;
  readonly introspectionUrl: string;
  /** Number of requests by path. */
  readonly requests: ReadonlyMap<string, number>;
  /** Requests an access token for the audience from the token endpoint (client credentials). */
  token(format: 'jwt' | 'opaque', audience: string): Promise<string>;
  /** Returns a JWT signed with the current key of the algorithm. `header` overrides `alg` and `kid`. */
  sign(claims: JWTPayload, options?: SignOptions): Promise<string>;
  /** Returns the public part of the current key as in the JWKS. */
  publicKey(algorithm: IssuerAlgorithm): JWK;
  /** Makes an opaque token inactive. */
  revoke(token: string): void;
  /** Replaces all keys. Tokens signed with the old keys become invalid. */
  rotateKeys(): Promise<void>;
  /** Refuses connections until `resume`. */
  stop(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

interface SignOptions {
  readonly algorithm?: IssuerAlgorithm;
  readonly header?: Partial<JWTHeaderParameters>;
}

export async function startIssuer(): Promise<Issuer> {
  const requests = new Map<string, number>();
  let handle: RequestListener = (_request, response) => response.writeHead(503).end();
  let keys: readonly JWK[] = [];
  let generation = 0;
  const stored = new Map<string, object>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    requests.set(path, (requests.get(path) ?? 0) + 1);
    handle(request, response);
  });

  function listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.removeListener('error', reject);
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  }

  function stop(): Promise<void> {
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  const port = await listen(0);
  const url = `http://127.0.0.1:${port}`;

  async function rotateKeys(): Promise<void> {
    generation += 1;
    keys = await Promise.all(ALGORITHMS.map((algorithm) => newKey(algorithm, generation)));
    handle = new Provider(url, configuration(keys, stored)).callback();
  }

  function key(algorithm: IssuerAlgorithm): JWK {
    const found = keys.find(({ alg }) => alg === algorithm);
    if (found === undefined) throw new Error(`no ${algorithm} key`);
    return found;
  }

  await rotateKeys();
  return {
    url,
    jwksUrl: `${url}/jwks`,
    introspectionUrl: `${url}/token/introspection`,
    requests,
    token: (format, audience) => requestToken(url, format, audience),
    async sign(claims, { algorithm = 'RS256', header = {} } = {}) {
      const { kid } = key(algorithm);
      const privateKey = await importJWK(key(algorithm), algorithm);
      return new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, ...(kid === undefined ? {} : { kid }), ...header })
        .sign(privateKey);
    },
    publicKey: (algorithm) => publicPart(key(algorithm)),
    revoke: (token) => {
      stored.delete(token);
    },
    rotateKeys,
    stop,
    async resume() {
      await listen(port);
    },
    close: stop,
  };
}

async function newKey(algorithm: IssuerAlgorithm, generation: number): Promise<JWK> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: algorithm, use: 'sig', kid: `${algorithm}-${generation}` };
}

function publicPart({ kty, kid, alg, use, n, e, crv, x, y }: JWK): JWK {
  return JSON.parse(JSON.stringify({ kty, kid, alg, use, n, e, crv, x, y }));
}

/** Returns the provider's storage for tokens. All models share one map, because ids are random. */
function adapter(stored: Map<string, object>): object {
  return {
    upsert: async (id: string, payload: object) => {
      stored.set(id, payload);
    },
    find: async (id: string) => stored.get(id),
    destroy: async (id: string) => {
      stored.delete(id);
    },
  };
}

function configuration(keys: readonly JWK[], stored: Map<string, object>): object {
  const hour = () => 3600;
  const ttl = {
    AccessToken: hour,
    ClientCredentials: hour,
    Grant: hour,
    IdToken: hour,
    Interaction: hour,
    Session: hour,
  };
  return {
    adapter: () => adapter(stored),
    jwks: { keys },
    cookies: { keys: ['only for tests'] },
    ttl,
    clientDefaults: { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] },
    clients: [
      { client_id: 'jwt', client_secret: 'jwt secret' },
      { client_id: 'opaque', client_secret: 'opaque secret' },
      { client_id: INTROSPECTION_CLIENT.id, client_secret: INTROSPECTION_CLIENT.secret },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: {
        enabled: true,
        allowedPolicy: (_context: unknown, client: { clientId: string }) => client.clientId === INTROSPECTION_CLIENT.id,
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string, client: { clientId: string }) => ({
          scope: '',
          audience: resource,
          accessTokenTTL: 3600,
          accessTokenFormat: client.clientId,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  };
}

async function requestToken(url: string, format: 'jwt' | 'opaque', audience: string): Promise<string> {
  const response = await fetch(`${url}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${format}:${format}+secret`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
  });
  const body: { access_token?: string } = JSON.parse(await response.text());
  if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`);
  return body.access_token;
}
