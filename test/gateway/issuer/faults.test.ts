// Tests failures of logins and the messages to people, clients and operators: broken providers, an unreachable store,
// and invalid settings.

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { configInvalid } from '#gateway/issuer/config-fault.ts';
import { createAuthorizationServer } from '#gateway/issuer/issuer.ts';
import { createMemoryStore } from '#gateway/issuer/memory-store.ts';
import type { IssuerNotice, IssuerPorts, IssuerStore } from '#gateway/issuer/ports.ts';
import { issuerSettings } from '#gateway/issuer/settings.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { Failure } from '#std/failure.ts';
import { stopAll } from '../proxy/rig.ts';
import { newPerson } from './person.ts';
import {
  type AuthServer,
  authorizeUrl,
  callMcp,
  type LoginWorld,
  logIn,
  newClient,
  newPkce,
  openLoginWorld,
} from './world.ts';

let world: LoginWorld;
beforeAll(async () => {
  world = await openLoginWorld();
});
afterEach(() => {
  world.provider.fault = undefined;
});
afterAll(async () => {
  await stopAll();
  await world.provider.close();
});

type Fault = (response: ServerResponse, request: IncomingMessage) => void;

function answering(path: string, fault: Fault): void {
  world.provider.fault = (asked, request, response) => {
    if (asked !== path) return false;
    fault(response, request);
    return true;
  };
}

const sendJson =
  (status: number, value: object): Fault =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

describe('a provider', () => {
  it.each<{ reason: string; fault: Fault; error: string; code: string }>([
    {
      reason: 'that closes the connection',
      fault: (response) => void response.destroy(),
      error: 'temporarily_unavailable',
      code: 'issuer-upstream-unavailable',
    },
    {
      reason: 'that is broken',
      fault: sendJson(503, {}),
      error: 'temporarily_unavailable',
      code: 'issuer-upstream-unavailable',
    },
    {
      reason: 'that refuses the code',
      fault: sendJson(400, { error: 'invalid_grant' }),
      error: 'access_denied',
      code: 'issuer-upstream-refused',
    },
    {
      reason: 'that refuses with 200',
      fault: sendJson(200, { error: 'bad_verification_code' }),
      error: 'access_denied',
      code: 'issuer-upstream-refused',
    },
    {
      reason: 'that answers in HTML',
      fault: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Error</h1>'),
      error: 'server_error',
      code: 'issuer-upstream-invalid',
    },
    {
      reason: 'that returns no id_token',
      fault: sendJson(200, { access_token: 'a', token_type: 'Bearer' }),
      error: 'server_error',
      code: 'issuer-upstream-invalid',
    },
    {
      reason: 'that returns an id_token of another person',
      fault: sendJson(200, {
        access_token: 'a',
        token_type: 'Bearer',
        id_token: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0.',
      }),
      error: 'server_error',
      code: 'issuer-upstream-invalid',
    },
    {
      reason: 'that returns another kind of token',
      fault: sendJson(200, { access_token: 'a', token_type: 'mac', id_token: 'x' }),
      error: 'server_error',
      code: 'issuer-upstream-invalid',
    },
  ])('$reason ends the login with $error at the client, and the log contains $code', async ({ fault, error, code }) => {
    answering('/token', fault);
    const client = await newClient(world);
    const { url } = await newPerson().visit(authorizeUrl(world, client, newPkce()));
    expect(url.searchParams.get('error')).toBe(error);
    expect(url.searchParams.get('state')).toBe('state of the client');
    expect(url.searchParams.get('code')).toBeNull();
    expect(world.proxy.log.text()).toContain(code);
  });

  it('that cannot be discovered ends the login before the redirect, and the next login tries again', async () => {
    const fresh = await openLoginWorld();
    fresh.provider.fault = (path, _request, response) => {
      if (path !== '/.well-known/openid-configuration') return false;
      response.writeHead(500).end();
      return true;
    };
    const client = await newClient(fresh);
    const { url } = await newPerson().visit(authorizeUrl(fresh, client, newPkce()));
    expect(url.searchParams.get('error')).toBe('temporarily_unavailable');
    fresh.provider.fault = undefined;
    await logIn(fresh, { client });
    await fresh.provider.close();
  });

  it('at which the person cancels ends the login with access_denied', async () => {
    world.provider.fault = (path, request, response) => {
      if (path !== '/auth') return false;
      const state = new URL(request.url ?? '', world.provider.url).searchParams.get('state') ?? '';
      const back = `${world.issuer}/oauth/callback?${new URLSearchParams({ error: 'access_denied', state, iss: world.provider.url })}`;
      response.writeHead(303, { location: back }).end();
      return true;
    };
    const { url } = await newPerson().visit(authorizeUrl(world, await newClient(world), newPkce()));
    expect(url.searchParams.get('error')).toBe('access_denied');
  });
});

describe("the person's token at the provider", () => {
  it('is refreshed once for many waiting calls', async () => {
    const short = await openLoginWorld({ accessSeconds: 2 });
    const { tokens } = await logIn(short);
    short.provider.accessSeconds = 3600;
    const asked = short.provider.requests.get('/token') ?? 0;
    const answers = await Promise.all(Array.from({ length: 12 }, () => callMcp(short, tokens.access_token)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((short.provider.requests.get('/token') ?? 0) - asked).toBe(1);
    await short.provider.close();
  });

  it('that the provider no longer refreshes ends the session, and the client must log in', async () => {
    const short = await openLoginWorld({ accessSeconds: 2 });
    const { tokens } = await logIn(short);
    short.provider.fault = (path, _request, response) => {
      if (path !== '/token') return false;
      sendJson(400, { error: 'invalid_grant' })(response, _request);
      return true;
    };
    const answered = await callMcp(short, tokens.access_token);
    expect(answered.status).toBe(401);
    expect(answered.headers.get('www-authenticate')).toContain('resource_metadata=');
    expect(short.proxy.log.text()).toContain('session-ended');
    expect(short.proxy.log.text()).toContain('issuer-session-ended');
    await short.provider.close();
  });
});

const CONFIG: AuthServer = {
  schema_version: 'v0.1.0',
  issuer: 'https://weather.example.com',
  token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
  upstreams: [
    {
      name: 'login',
      type: 'oidc',
      oidc_config: {
        issuer_url: 'https://login.example.com',
        client_id: 'skep',
        redirect_uri: 'https://weather.example.com/oauth/callback',
      },
    },
  ],
  scopes_supported: ['openid'],
  allowed_audiences: ['https://weather.example.com/mcp'],
  storage: { type: 'memory' },
};

function portsWith(store: IssuerStore, notices: IssuerNotice[] = []): IssuerPorts {
  return {
    fetch: () => Promise.reject(new Failure('outbound-unreachable', 'nobody is asked here')),
    store,
    clock: proxyClock,
    random: proxyClock.random,
    files: createWatchedFiles(),
    environment: {},
    notify: (notice) => void notices.push(notice),
  };
}

function fileOf(text: string): { readonly folder: string; readonly name: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'skep-issuer-'));
  writeFileSync(join(folder, 'file'), text);
  return { folder, name: 'file', path: join(folder, 'file') };
}

function start(more: Partial<AuthServer>, ports = portsWith(createMemoryStore(proxyClock))) {
  return createAuthorizationServer(
    ports,
    issuerSettings({ ...CONFIG, ...more }, 'https://weather.example.com/mcp'),
    () => undefined,
  );
}

describe('the start fails if', () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString();
  it.each<{ reason: string; more: () => Partial<AuthServer>; code: string; says: string }>([
    {
      reason: 'the issuer is not https',
      more: () => ({ issuer: 'http://weather.example.com' }),
      code: 'issuer-config-invalid',
      says: '/issuer',
    },
    {
      reason: 'the issuer ends with a slash',
      more: () => ({ issuer: 'https://weather.example.com/' }),
      code: 'issuer-config-invalid',
      says: '/issuer',
    },
    {
      reason: 'a lifespan is beyond its bounds',
      more: () => ({ token_lifespans: { ...CONFIG.token_lifespans, access_token_lifespan: '25h' } }),
      code: 'issuer-config-invalid',
      says: '/token_lifespans/access_token_lifespan',
    },
    {
      reason: 'a provider has not the block of its type',
      more: () => ({ upstreams: [{ name: 'login', type: 'oauth2' as const }] }),
      code: 'issuer-config-invalid',
      says: '/upstreams/0',
    },
    {
      reason: 'a key is invalid',
      more: () => keysOf('no key'),
      code: 'issuer-key-invalid',
      says: 'not a private key',
    },
    { reason: 'an RSA key is too small', more: () => keysOf(small), code: 'issuer-key-invalid', says: '1024 bits' },
    {
      reason: 'an HMAC secret is short',
      more: () => ({ hmac_secret_files: [fileOf('short').path] }),
      code: 'issuer-secret-invalid',
      says: '5 bytes',
    },
  ])('$reason, with a clear error', ({ more, code, says }) => {
    expect(() => start(more())).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says) }));
  });

  function keysOf(text: string): Partial<AuthServer> {
    const { folder, name } = fileOf(text);
    return { signing_key_config: { key_dir: folder, signing_key_file: name } };
  }

  it('the secret of a provider is missing', () => {
    const [upstream] = CONFIG.upstreams;
    const oidc = { ...upstream?.oidc_config, client_secret_env_var: 'UNSET' };
    expect(() => start({ upstreams: [{ ...upstream, oidc_config: oidc } as AuthServer['upstreams'][number]] })).toThrow(
      'UNSET',
    );
  });

  it('the host accepts tokens of another issuer', async () => {
    await expect(
      openLoginWorld({ auth: { issuer: 'https://other.example.com' }, provider: world.provider }),
    ).rejects.toThrow('the two must be equal');
  });
});

describe('a warning in the log', () => {
  it('appears if the server generates its keys, or stores logins in memory', () => {
    expect(world.proxy.log.text()).toContain('issuer-keys-ephemeral');
    expect(world.proxy.log.text()).toContain('issuer-storage-memory');
  });
});

describe('an unreachable store', () => {
  const REQUEST = {
    method: 'POST',
    path: '/oauth/token',
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    address: '192.0.2.1',
  };
  const failing = (error: Error): IssuerStore => {
    const fail = () => Promise.reject(error);
    return { get: fail, set: fail, add: fail, take: fail, replace: fail, delete: fail };
  };

  it.each([
    { error: new Failure('redis-unreachable', 'Redis is away'), status: 503, code: 'issuer-store-unavailable' },
    { error: configInvalid('/upstreams', 'has no secret'), status: 503, code: 'issuer-config-invalid' },
    { error: new TypeError('a mistake'), status: 500, code: 'issuer-internal' },
  ])('leads to $status, and the log contains $code', async ({ error, status, code }) => {
    const notices: IssuerNotice[] = [];
    const server = start({}, portsWith(failing(error), notices));
    const answer = await server.handle({ ...REQUEST, body: 'grant_type=refresh_token&client_id=x&refresh_token=y' });
    expect(answer.status).toBe(status);
    expect(answer.body).toContain('temporarily_unavailable');
    expect(answer.body).not.toContain('Redis');
    expect(notices.map((notice) => notice.code)).toContain(code);
    const page = await server.handle({
      ...REQUEST,
      method: 'GET',
      path: '/oauth/authorize',
      body: '',
      query: new URLSearchParams({ client_id: 'x' }),
    });
    expect(page).toMatchObject({ status, headers: { 'content-type': 'text/html; charset=utf-8' } });
  });

  it('too many requests from one address get issuer-too-many-requests with a delay', async () => {
    const notices: IssuerNotice[] = [];
    const server = start({}, portsWith(createMemoryStore(proxyClock), notices));
    const register = { ...REQUEST, path: '/oauth/register', body: '{}' };
    let answer = await server.handle(register);
    for (let count = 0; count < 400 && answer.status !== 429; count += 1) answer = await server.handle(register);
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(notices.map(({ code }) => code)).toContain('issuer-too-many-requests');
    expect(notices.map(({ code }) => code)).toContain('issuer-request-refused');
    expect((await server.handle({ ...register, address: '192.0.2.2' })).status).toBe(400);
  });
});
