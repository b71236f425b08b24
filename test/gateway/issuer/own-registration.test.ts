// Tests the registration of the authorization server at a provider (RFC 7591): its requests, accepted responses, and
// repetitions. In one file, because all tests share the provider and its default responses.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIssuerSecrets } from '#gateway/issuer/keys/secrets.ts';
import { createMemoryStore } from '#gateway/issuer/memory-store.ts';
import type { IssuerPorts } from '#gateway/issuer/ports.ts';
import { createOAuth2Upstream } from '#gateway/issuer/upstream/oauth2.ts';
import { createUpstreamRegistration } from '#gateway/issuer/upstream/registration.ts';
import { configOf, type DirectIssuer, oauth2To, openDirect } from './direct.ts';
import { newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { authorizeUrl, newClient, newPkce, redeem, tokensOf } from './world.ts';

type Dcr = Record<string, string | undefined>;

const METADATA = '/.well-known/oauth-authorization-server';
const REGISTERED = { client_id: 'of-the-provider', client_secret: 'given', client_secret_expires_at: 0 };
let provider: RecordingProvider;

beforeAll(async () => {
  provider = await startRecordingProvider();
});
beforeEach(() => {
  provider.answers = { [METADATA]: () => metadata(), '/register': () => REGISTERED };
});
afterAll(() => provider.close());

const metadata = (more: object = {}) => ({
  issuer: provider.url,
  registration_endpoint: `${provider.url}/register`,
  token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
  scopes_supported: ['read', 'write'],
  ...more,
});

async function withIssuer<T>(
  dcr: Dcr,
  use: (issuer: DirectIssuer) => Promise<T>,
  more: object = {},
  environment: Record<string, string> = {},
): Promise<T> {
  const issuer = await openDirect({
    config: (at) => configOf(at, [oauth2To(at, provider, { client_id: undefined, dcr_config: dcr, ...more })]),
    environment,
  });
  try {
    return await use(issuer);
  } finally {
    await issuer.close();
  }
}

async function logIn(issuer: DirectIssuer) {
  const [client, pkce] = [await newClient(issuer), newPkce()];
  const { url } = await newPerson().visit(authorizeUrl(issuer, client, pkce));
  const error = url.searchParams.get('error');
  if (error !== null) return { error, description: url.searchParams.get('error_description') };
  return tokensOf(await redeem(issuer, client, url.searchParams.get('code') ?? String(url), pkce));
}

const asked = () => JSON.parse(provider.last('/register')?.body ?? '{}');

describe('people log in with the registered client', () => {
  it('at the endpoint in the metadata of the provider', async () => {
    const before = provider.count('/register');
    await withIssuer({ discovery_url: `${provider.url}${METADATA}` }, async (issuer) => {
      expect(await logIn(issuer)).toHaveProperty('access_token');
      expect(await logIn(issuer)).toHaveProperty('access_token');
      expect(asked()).toMatchObject({
        redirect_uris: [`${issuer.origin}/oauth/callback`],
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        scope: 'read write',
      });
      expect(issuer.log()).not.toContain('given');
    });
    expect(provider.count('/register') - before).toBe(1);
    const { form } = provider.last('/token') ?? {};
    expect([form?.get('client_id'), form?.get('client_secret')]).toEqual(['of-the-provider', 'given']);
  });

  it('at a configured endpoint, with a token, a software id and a software statement', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'skep-registration-')), 'token');
    writeFileSync(file, 'first-token\n');
    const dcr = {
      registration_endpoint: `${provider.url}/register`,
      initial_access_token_file: file,
      software_id: 'skep',
      software_statement: 'a.b.c',
    };
    await withIssuer(dcr, logIn, { scopes: ['chat'] });
    expect(asked()).toMatchObject({ scope: 'chat', software_id: 'skep', software_statement: 'a.b.c' });
    expect(provider.last('/register')?.headers.authorization).toBe('Bearer first-token');
    const basic = `Basic ${Buffer.from('of-the-provider:given').toString('base64')}`;
    expect(provider.last('/token')?.headers.authorization).toBe(basic);
    const open = { registration_endpoint: `${provider.url}/register`, initial_access_token_env_var: 'TOKEN' };
    await withIssuer(open, logIn, {}, { TOKEN: 'of-the-variable' });
    expect(provider.last('/register')?.headers.authorization).toBe('Bearer of-the-variable');
  });

  it('without a secret, if the provider supports public clients and PKCE', async () => {
    const methods = { token_endpoint_auth_methods_supported: ['none'] };
    provider.answers = {
      [METADATA]: () => metadata({ ...methods, code_challenge_methods_supported: ['S256'] }),
      '/register': () => ({ client_id: 'public', token_endpoint_auth_method: 'none' }),
    };
    await withIssuer({ discovery_url: `${provider.url}${METADATA}` }, logIn);
    const { form } = provider.last('/token') ?? {};
    expect([form?.get('client_id'), form?.get('client_secret')]).toEqual(['public', null]);
    provider.answers = { ...provider.answers, [METADATA]: () => metadata(methods) };
    const refused = await withIssuer({ discovery_url: `${provider.url}${METADATA}` }, logIn);
    expect(refused).toMatchObject({ error: 'temporarily_unavailable' });
  });
});

describe('private addresses', () => {
  const elsewhere = () => `${provider.url.replace('127.0.0.1', 'localhost')}/register`;
  const dcr = () => ({ discovery_url: `${provider.url}${METADATA}` });

  it('are accepted if the settings allow them, also for URLs in the metadata', async () => {
    provider.answers = { ...provider.answers, [METADATA]: () => metadata({ registration_endpoint: elsewhere() }) };
    const tokens = await withIssuer(dcr(), logIn, { allow_private_ips: true });
    expect(tokens).toHaveProperty('access_token');
  });

  it('are refused if the settings forbid them, also in configured URLs', async () => {
    const before = provider.count(METADATA);
    const refused = await withIssuer(dcr(), logIn, { allow_private_ips: false });
    expect(refused).toMatchObject({ error: 'temporarily_unavailable' });
    expect(provider.count(METADATA)).toBe(before);
    const open = { client_id: 'skep', dcr_config: undefined, allow_private_ips: false };
    const tokens = provider.count('/token');
    expect(await withIssuer({}, logIn, open)).toMatchObject({ error: 'temporarily_unavailable' });
    expect(provider.count('/token')).toBe(tokens);
  });
});

describe('the login fails, and the log contains the code, if', () => {
  it.each<[string, Record<string, () => unknown>, string]>([
    ['the endpoint is broken', { '/register': () => 500 }, 'issuer-upstream-unavailable'],
    ['the endpoint refuses', { '/register': () => 401 }, 'issuer-upstream-registration'],
    ['the response has no client_id', { '/register': () => ({ client_secret: 'x' }) }, 'issuer-upstream-registration'],
    ['the response has no secret', { '/register': () => ({ client_id: 'x' }) }, 'issuer-upstream-registration'],
    ...[
      { client_id: 'a'.repeat(2049) },
      { client_id: 'line\nbreak' },
      { client_secret: 'a'.repeat(2049) },
      { client_secret: '\u0000' },
    ].map((more): [string, Record<string, () => unknown>, string] => [
      `its ${Object.keys(more).join()} cannot be used`,
      { '/register': () => ({ ...REGISTERED, ...more }) },
      'issuer-upstream-registration',
    ]),
    [
      'the provider registers another redirect URI',
      { '/register': () => ({ ...REGISTERED, redirect_uris: ['https://other.example/callback'] }) },
      'issuer-upstream-registration',
    ],
    [
      'the client is to prove itself in a way that this server lacks',
      { '/register': () => ({ ...REGISTERED, token_endpoint_auth_method: 'private_key_jwt' }) },
      'issuer-upstream-registration',
    ],
    [
      'the metadata is of another issuer',
      { [METADATA]: () => metadata({ issuer: 'https://other.example' }) },
      'issuer-upstream-registration',
    ],
    [
      'the metadata is of another path',
      { [METADATA]: () => metadata({ issuer: `${provider.url}/b` }) },
      'issuer-upstream-registration',
    ],
    [
      'the metadata has no endpoint',
      { [METADATA]: () => metadata({ registration_endpoint: 1 }) },
      'issuer-upstream-registration',
    ],
    [
      'the endpoint has no TLS',
      { [METADATA]: () => metadata({ registration_endpoint: 'http://auth.example.com/register' }) },
      'issuer-upstream-registration',
    ],
    [
      'the metadata leads to another private host',
      {
        [METADATA]: () =>
          metadata({ registration_endpoint: `${provider.url.replace('127.0.0.1', 'localhost')}/register` }),
      },
      'issuer-upstream-unavailable',
    ],
  ])('%s', async (_what, answers, code) => {
    provider.answers = { ...provider.answers, ...answers };
    await withIssuer({ discovery_url: `${provider.url}${METADATA}` }, async (issuer) => {
      expect(await logIn(issuer)).toMatchObject({ error: 'temporarily_unavailable' });
      expect(issuer.log()).toContain(`"code":"${code}"`);
    });
  });

  it.each<[string, Dcr, object]>([
    ['the settings also contain a client_id', { registration_endpoint: 'https://a.example/r' }, { client_id: 'skep' }],
    [
      'it names a secret, too',
      { registration_endpoint: 'https://a.example/r' },
      { client_secret_env_var: 'UPSTREAM_SECRET' },
    ],
    ['it names no place', {}, {}],
    ['it names two places', { registration_endpoint: 'https://a.example/r', discovery_url: 'https://a.example/d' }, {}],
    ['the endpoint has no TLS', { registration_endpoint: 'http://a.example/r' }, {}],
    [
      'the token is missing',
      { registration_endpoint: 'https://a.example/r', initial_access_token_env_var: 'NONE' },
      {},
    ],
  ])('%s, so that the server does not start', async (_what, dcr, more) => {
    const opened = withIssuer(dcr, async () => undefined, more, { UPSTREAM_SECRET: 'of-the-configuration' });
    await expect(opened).rejects.toMatchObject({ code: 'issuer-config-invalid' });
  });
});

describe('a registration', () => {
  const URL_OF_IT = 'https://forge.example.com/register';
  const settings = {
    name: 'forge',
    clientId: '',
    redirectUri: 'https://auth.example.com/oauth/callback',
    scopes: [],
    authorizationParameters: {},
    registration: { registrationEndpoint: URL_OF_IT },
  };

  /**
   * Opens replicas with a shared store and clock. The provider sends the responses in order, then repeats the last one.
   */
  function openWorld(answers: readonly { readonly status: number; readonly body?: object }[]) {
    let nowMs = 1_000_000;
    let requests = 0;
    const clock = {
      now: () => nowMs,
      monotonic: () => nowMs,
      after: (_ms: number, task: () => void) => {
        setImmediate(task);
        return () => undefined;
      },
    };
    const ports = {
      clock,
      store: createMemoryStore(clock),
      random: (bytes: number) => Buffer.alloc(bytes, 7),
      files: { read: (path: string) => path.padEnd(32, 'x') },
      environment: {},
      notify: () => undefined,
      fetch: async () => {
        const { status, body = {} } = answers[Math.min(requests, answers.length - 1)] ?? { status: 500 };
        requests += 1;
        return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
      },
    } as unknown as IssuerPorts;
    return {
      open: (secret = 'a') => createUpstreamRegistration(ports, createIssuerSecrets(ports, [secret]), settings),
      requests: () => requests,
      wait: (ms: number) => {
        nowMs += ms;
      },
      nowMs: () => nowMs,
    };
  }
  const given = (id: string, more: object = {}) => ({ status: 201, body: { ...REGISTERED, client_id: id, ...more } });

  it('is shared by all replicas, even if several replicas register at the same time', async () => {
    const world = openWorld([given('one'), given('two')]);
    const [first, second] = [world.open(), world.open()];
    const found = await Promise.all([first.find(), second.find(), first.find()]);
    expect(found.map(({ id }) => id)).toEqual(['one', 'one', 'one']);
    expect(world.requests()).toBe(1);
  });

  it('is tried again after a failure, with growing delays', async () => {
    const world = openWorld([{ status: 503 }, { status: 503 }, given('one')]);
    const own = world.open();
    await expect(own.find()).rejects.toMatchObject({ code: 'issuer-upstream-unavailable' });
    world.wait(999);
    await expect(own.find()).rejects.toMatchObject({ code: 'issuer-upstream-unavailable' });
    expect(world.requests()).toBe(1);
    world.wait(1);
    await expect(own.find()).rejects.toMatchObject({ code: 'issuer-upstream-unavailable' });
    world.wait(1_999);
    await expect(own.find()).rejects.toMatchObject({ code: 'issuer-upstream-unavailable' });
    expect(world.requests()).toBe(2);
    world.wait(1);
    expect((await own.find()).id).toBe('one');
  });

  it('is renewed before its secret expires, and after 90 days only if it was not used', async () => {
    const world = openWorld([given('one', { client_secret_expires_at: 4_600 }), given('two'), given('three')]);
    const own = world.open();
    await own.find();
    world.wait(3_500_000);
    expect((await own.find()).id).toBe('one');
    world.wait(50_000);
    expect((await own.find()).id).toBe('two');
    const day = 24 * 3_600_000;
    for (let days = 0; days < 120; days += 2) {
      world.wait(2 * day);
      expect((await own.find()).id).toBe('two');
    }
    world.wait(91 * day);
    expect((await own.find()).id).toBe('three');
  });

  it.each([1, 1_060])('fails and is not tried again at once, if its secret expires at %i', async (expires) => {
    const world = openWorld([given('one', { client_secret_expires_at: expires })]);
    const own = world.open();
    for (let login = 0; login < 5; login += 1)
      await expect(own.find()).rejects.toMatchObject({ code: 'issuer-upstream-registration' });
    expect(world.requests()).toBe(1);
  });

  it('is valid if its secret expires later than the largest date', async () => {
    const world = openWorld([given('one', { client_secret_expires_at: 1e306 }), given('two')]);
    const own = world.open();
    expect([(await own.find()).id, (await own.find()).id]).toEqual(['one', 'one']);
  });

  it('is renewed if no secret of the server can decrypt it', async () => {
    const world = openWorld([given('one'), given('two')]);
    expect((await world.open('a').find()).id).toBe('one');
    expect((await world.open('b').find()).id).toBe('two');
  });

  it('is deleted after some time if the provider does not know it', async () => {
    const world = openWorld([given('one'), given('two')]);
    const own = world.open();
    const client = await own.find();
    await own.forget(client);
    expect((await own.find()).id).toBe('one');
    world.wait(300_000);
    await own.forget({ ...client, id: 'another' });
    expect((await own.find()).id).toBe('one');
    await own.forget(client);
    expect((await own.find()).id).toBe('two');
  });

  it('is deleted if the token endpoint reports an unknown client', async () => {
    const client = { id: 'one', secret: 's', method: 'client_secret_post', registeredAtMs: 0 } as const;
    async function forgottenAfter(error: string) {
      const forgotten: string[] = [];
      const ports = {
        clock: { now: () => 0 },
        fetch: async () => ({ status: 401, headers: {}, body: Buffer.from(JSON.stringify({ error })) }),
      } as unknown as IssuerPorts;
      const registration = {
        find: async () => client,
        forget: async ({ id }: { id: string }) => void forgotten.push(id),
      };
      const more = { type: 'oauth2', authorizationEndpoint: URL_OF_IT, tokenEndpoint: URL_OF_IT } as const;
      const identity = { subject_path: 'id' };
      const upstream = createOAuth2Upstream(ports, { ...settings, ...more, identity }, registration);
      const redeemed = upstream.redeem({ verifier: 'v', nonce: 'n' }, new URLSearchParams({ code: 'c' }));
      await expect(redeemed).rejects.toMatchObject({ code: 'issuer-upstream-refused' });
      return forgotten;
    }
    expect(await forgottenAfter('invalid_client')).toEqual(['one']);
    expect(await forgottenAfter('invalid_grant')).toEqual([]);
  });
});
