// Tests clients with a metadata document at a URL: which documents are fetched and accepted, and the authentication of
// clients with keys. In one file, because the tests share the HTTPS server that publishes the documents, and its
// certificate.

import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClientDocuments } from '#gateway/issuer/clients/document.ts';
import type { IssuerPorts } from '#gateway/issuer/ports.ts';
import { issuerSettings } from '#gateway/issuer/settings.ts';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { configOf, type DirectIssuer, oidcTo, openDirect } from './direct.ts';
import { CLIENT_REDIRECT, newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { authorizeUrl, newPkce, post, redeem, tokensOf } from './world.ts';

const DAY_MS = 86_400_000;
const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const authority = createAuthority('documents', validity);
const identity = createServerCertificate(authority, 'documents', ['127.0.0.1'], validity);

type Send = (id: string) => {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
};

let provider: RecordingProvider;
let issuer: DirectIssuer;
let server: Server;
let origin: string;
let documents: Record<string, Send> = {};
let fetched: string[] = [];
let names = 0;

beforeAll(async () => {
  provider = await startRecordingProvider();
  server = createServer({ cert: identity.certificate, key: identity.privateKey }, (request, response) => {
    const path = request.url ?? '';
    fetched.push(path);
    const { status = 200, headers = {}, body } = documents[path]?.(`${origin}${path}`) ?? { status: 404, body: '' };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  issuer = await openWith({ allowPrivate: ['127.0.0.1'], ca: authority.certificate });
});
beforeEach(() => {
  documents = {};
  fetched = [];
});
afterAll(async () => {
  await issuer.close();
  await provider.close();
  server.closeAllConnections();
  server.close();
});

function openWith(outbound: { readonly allowPrivate: readonly string[]; readonly ca?: string }): Promise<DirectIssuer> {
  return openDirect({ config: (at) => configOf(at, [oidcTo(at, provider)]), outbound });
}

/** Publishes a document and returns its URL, which is new each time because documents are cached. */
function publish(send: Send): string {
  names += 1;
  const path = `/client-${names}.json`;
  documents[path] = send;
  return `${origin}${path}`;
}

const described =
  (more: object = {}): Send =>
  (id) => ({
    body: {
      client_id: id,
      client_name: 'Described app',
      redirect_uris: [CLIENT_REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      ...more,
    },
  });

describe('a client with a metadata document', () => {
  it('logs in without registration, and the consent page shows the URL of the document', async () => {
    const id = publish(described());
    const pkce = newPkce();
    const shown = await newPerson({ decision: 'look' }).visit(authorizeUrl(issuer, id, pkce));
    expect(shown.text).toContain('Described app');
    expect(shown.text).toContain(new URL(origin).host);
    const { url } = await newPerson().visit(authorizeUrl(issuer, id, pkce));
    const tokens = tokensOf(await redeem(issuer, id, url.searchParams.get('code') ?? '', pkce));
    expect(tokens.refresh_token).toBeTypeOf('string');
    expect(fetched.length).toBe(1);
  });

  it('gets the scopes in its document, and the baseline if configured', async () => {
    const limiting = await openDirect({
      config: (at) => ({
        ...configOf(at, [oidcTo(at, provider)]),
        scopes_supported: ['openid', 'weather', 'storm'],
        baseline_client_scopes: ['openid'],
      }),
      outbound: { allowPrivate: ['127.0.0.1'], ca: authority.certificate },
    });
    try {
      const [client, pkce] = [publish(described({ scope: 'weather' })), newPkce()];
      const { url } = await newPerson().visit(authorizeUrl(limiting, client, pkce, { scope: 'openid storm weather' }));
      const answer = await redeem(limiting, client, url.searchParams.get('code') ?? String(url), pkce);
      expect(tokensOf(answer).scope).toBe('openid weather');
    } finally {
      await limiting.close();
    }
  });

  it('is announced in the metadata', async () => {
    const document = JSON.parse(await (await fetch(`${issuer.issuer}/.well-known/oauth-authorization-server`)).text());
    expect(document.client_id_metadata_document_supported).toBe(true);
    expect(document.token_endpoint_auth_methods_supported).toEqual(['none', 'private_key_jwt']);
  });

  it.each<{ reason: string; send: Send }>([
    { reason: 'of another client_id', send: described({ client_id: 'https://other.example/client.json' }) },
    { reason: 'with a secret', send: described({ client_secret: 'everybody reads it' }) },
    { reason: 'without redirect URIs', send: described({ redirect_uris: [] }) },
    { reason: 'with a dangerous redirect URI', send: described({ redirect_uris: ['javascript:alert(1)'] }) },
    { reason: 'with another method', send: described({ token_endpoint_auth_method: 'client_secret_basic' }) },
    { reason: 'with keys that are nowhere', send: described({ token_endpoint_auth_method: 'private_key_jwt' }) },
    { reason: 'that is larger than 5 kB', send: described({ client_uri: 'x'.repeat(6000) }) },
    { reason: 'that is not JSON', send: () => ({ body: '<html>' }) },
    { reason: 'that is elsewhere now', send: () => ({ status: 302, headers: { location: '/client.json' }, body: '' }) },
    { reason: 'that does not exist', send: () => ({ status: 404, body: '' }) },
  ])('a document $reason leads to an error page without a redirect', async ({ send }) => {
    const id = publish(send);
    const place = await newPerson().visit(authorizeUrl(issuer, id, newPkce()));
    expect(place.status).toBe(400);
    expect(issuer.log()).toContain('issuer-client-document');
  });

  it('whose document was invalid is read again', async () => {
    const id = publish(() => ({ status: 500, body: '' }));
    expect((await newPerson().visit(authorizeUrl(issuer, id, newPkce()))).status).toBe(400);
    documents[new URL(id).pathname] = described();
    expect((await newPerson({ decision: 'look' }).visit(authorizeUrl(issuer, id, newPkce()))).status).toBe(200);
  });

  it.each([
    'http://127.0.0.1/client.json',
    'https://127.0.0.1',
    'https://127.0.0.1/',
    'https://127.0.0.1/a/../client.json',
    'https://user@127.0.0.1/client.json',
    'https://127.0.0.1/client.json#fragment',
    'HTTPS://127.0.0.1/client.json',
  ])('with the id %s is refused without a request', async (id) => {
    expect((await newPerson().visit(authorizeUrl(issuer, id, newPkce()))).status).toBe(400);
    expect(fetched).toEqual([]);
  });

  it.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1', '0.0.0.0', 'localhost'])(
    'is never fetched from the internal address %s',
    async (host) => {
      const guarded = await openWith({ allowPrivate: [], ca: authority.certificate });
      const { port } = new URL(origin);
      const id = new URL(`https://${host}:${port}/client.json`).href;
      expect((await newPerson().visit(authorizeUrl(guarded, id, newPkce()))).status).toBe(400);
      expect(guarded.log()).toContain('issuer-client-document');
      expect(fetched).toEqual([]);
      await guarded.close();
    },
  );
});

describe('a client with keys', () => {
  async function withKeys() {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'client key', alg: 'ES256' };
    const id = publish(described({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } }));
    const pkce = newPkce();
    const { url } = await newPerson().visit(authorizeUrl(issuer, id, pkce));
    const form = {
      grant_type: 'authorization_code',
      client_id: id,
      code: url.searchParams.get('code') ?? '',
      code_verifier: pkce.verifier,
      redirect_uri: CLIENT_REDIRECT,
    };
    const assertion = (more: object = {}, key = privateKey) =>
      new SignJWT({
        iss: id,
        sub: id,
        aud: issuer.issuer,
        jti: `${Math.random()}`,
        exp: Math.floor(Date.now() / 1000) + 60,
        ...more,
      })
        .setProtectedHeader({ alg: 'ES256', kid: 'client key' })
        .sign(key);
    return { id, form, assertion };
  }
  const proving = (assertion: string) => ({
    client_assertion: assertion,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
  const token = (form: Readonly<Record<string, string>>) => post(`${issuer.issuer}/oauth/token`, form);

  it('authenticates with assertions for the issuer or the token endpoint, each of which is accepted once', async () => {
    const { form, assertion } = await withKeys();
    const proof = await assertion({ aud: `${issuer.issuer}/oauth/token` });
    const tokens = tokensOf(await token({ ...form, ...proving(proof) }));
    const again = { grant_type: 'refresh_token', client_id: form.client_id, refresh_token: tokens.refresh_token ?? '' };
    expect(await token({ ...again, ...proving(proof) })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    tokensOf(await token({ ...again, ...proving(await assertion()) }));
  });

  it.each<{ reason: string; more: object }>([
    { reason: 'for another audience', more: { aud: 'https://other.example' } },
    { reason: 'of another subject', more: { sub: 'https://other.example/client.json' } },
    { reason: 'of another issuer', more: { iss: 'https://other.example/client.json' } },
    { reason: 'that has expired', more: { exp: 1 } },
    { reason: 'without an id', more: { jti: undefined } },
    { reason: 'that is good for a day', more: { exp: Math.floor(Date.now() / 1000) + 86_400 } },
  ])('is refused with a proof $reason', async ({ more }) => {
    const { form, assertion } = await withKeys();
    const answer = await token({ ...form, ...proving(await assertion(more)) });
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  it('is refused without an assertion, and with an assertion of other keys', async () => {
    const { form, assertion } = await withKeys();
    const { privateKey } = await generateKeyPair('ES256');
    expect(await token(form)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    const forged = await token({ ...form, ...proving(await assertion({}, privateKey)) });
    expect(forged).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    tokensOf(await token({ ...form, ...proving(await assertion()) }));
  });
});

describe('documents are cached', () => {
  async function fetchesOf(cimd: { cache_max_size?: number; cache_fallback_ttl?: string }, afterMs: number) {
    const settings = issuerSettings(
      {
        ...configOf('https://auth.example.com', [oidcTo('https://auth.example.com', provider)]),
        cimd: { enabled: true, ...cimd },
      },
      '',
    );
    let nowMs = 0;
    const asked: string[] = [];
    const ports = {
      clock: { now: () => nowMs, monotonic: () => nowMs },
      notify: () => undefined,
      fetch: async ({ url }: { readonly url: string }) => {
        asked.push(url);
        const body = Buffer.from(JSON.stringify(described()(url).body));
        return { status: 200, headers: {}, body, url };
      },
    } as unknown as IssuerPorts;
    if (settings.documents === undefined) throw new Error('documents are enabled');
    const find = createClientDocuments(ports, settings.documents);
    const [first, second] = ['https://app.example.com/a.json', 'https://app.example.com/b.json'];
    await find(first);
    await find(second);
    nowMs += afterMs;
    await find(second);
    await find(first);
    return asked.length;
  }

  it('up to the configured number', async () => {
    expect(await fetchesOf({}, 0)).toBe(2);
    expect(await fetchesOf({ cache_max_size: 1 }, 0)).toBe(3);
  });

  it('for the configured time, if the response does not define a time', async () => {
    expect(await fetchesOf({}, 10 * 60_000)).toBe(2);
    expect(await fetchesOf({ cache_fallback_ttl: '5m' }, 10 * 60_000)).toBe(4);
  });
});
