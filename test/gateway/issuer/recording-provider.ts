// Starts a minimal OpenID Connect and OAuth 2.0 provider on 127.0.0.1 that records requests. Tests can change its
// responses.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { ServerCertificate } from '../../harness/private-authority.ts';

interface Asked {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
  readonly body: string;
}

export interface RecordingProvider {
  readonly url: string;
  /** Base URL of the login page. */
  readonly pageUrl: string;
  /** Returns the newest request for the path. */
  last(path: string): Asked | undefined;
  count(path: string): number;
  /** Subject of the next login. */
  subject: string;
  /** If true, each login has a new subject, derived from its code. */
  strangers: boolean;
  /** Functions that change the response, by path. */
  answers: Readonly<Record<string, (answer: Record<string, unknown>, asked: Asked) => unknown>>;
  /** Claims that override those of id_tokens. */
  claims: Readonly<Record<string, unknown>>;
  /** Signs a JWT with the provider's key. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  close(): Promise<void>;
}

/** With a certificate, uses TLS, except for the login page: the simulated browser trusts no private authority. */
export async function startRecordingProvider(certificate?: ServerCertificate): Promise<RecordingProvider> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const asked: Asked[] = [];
  const nonces = new Map<string, string>();
  let codes = 0;

  async function answer(request: Asked, query: URLSearchParams): Promise<Record<string, unknown> | string> {
    const { url } = provider;
    const code = request.form.get('code');
    const subject = provider.strangers && code !== null ? `person-of-${code}` : provider.subject;
    switch (request.path) {
      case '/.well-known/openid-configuration':
        return {
          issuer: url,
          authorization_endpoint: `${provider.pageUrl}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/jwks`,
          token_endpoint_auth_methods_supported: ['client_secret_post'],
        };
      case '/jwks':
        return { keys: [jwk] };
      case '/authorize':
      case '/other/authorize': {
        codes += 1;
        nonces.set(`code-${codes}`, query.get('nonce') ?? '');
        const back = new URL(query.get('redirect_uri') ?? '');
        back.searchParams.set('code', `code-${codes}`);
        back.searchParams.set('state', query.get('state') ?? '');
        return back.href;
      }
      case '/token':
      case '/other/token': {
        const nonce = nonces.get(request.form.get('code') ?? '');
        const claims = {
          iss: url,
          aud: request.form.get('client_id') ?? 'skep',
          sub: subject,
          ...(nonce === undefined ? {} : { nonce }),
        };
        return {
          access_token: `access of ${subject} ${request.form.get('grant_type')}`.replaceAll(' ', '-'),
          token_type: 'Bearer',
          expires_in: 3600,
          refresh_token: `refresh-of-${subject}`,
          id_token: await provider.sign({ ...claims, ...provider.claims }),
        };
      }
      default:
        return {
          sub: subject,
          id: 4711,
          login: `${subject} at the host`,
          name: `Name of ${subject}`,
          email: `${subject}@example.com`,
          mail: `${subject}@mail.example`,
        };
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url ?? '/', provider.url);
    const one = {
      path: url.pathname,
      method: request.method ?? '',
      headers: request.headers,
      form: new URLSearchParams(body),
      body,
    };
    asked.push(one);
    const usual = await answer(one, url.searchParams);
    if (typeof usual === 'string') return void response.writeHead(303, { location: usual }).end();
    const given = provider.answers[url.pathname]?.(usual, one) ?? usual;
    if (typeof given === 'number') return void response.writeHead(given).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given));
  }

  const server = createServer((request, response) => void handle(request, response));
  const secure =
    certificate && createTlsServer({ ...certificate }, (request, response) => void handle(request, response));
  const servers = secure === undefined ? [server] : [server, secure];
  for (const each of servers) await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve));
  const pageUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: RecordingProvider = {
    url: secure === undefined ? pageUrl : `https://127.0.0.1:${(secure.address() as AddressInfo).port}`,
    pageUrl,
    last: (path) => asked.findLast((each) => each.path === path),
    count: (path) => asked.filter((each) => each.path === path).length,
    subject: 'ada',
    strangers: false,
    answers: {},
    claims: {},
    sign: (claims) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuedAt()
        .setExpirationTime(typeof claims.exp === 'number' ? claims.exp : '1h')
        .sign(privateKey),
    close: async () => {
      for (const each of servers) {
        const closed = new Promise<void>((resolve) => each.close(() => resolve()));
        each.closeAllConnections();
        await closed;
      }
    },
  };
  return provider;
}
