// Tests an authorization server without a provider: settings that prevent its start, an unreachable store, and too many
// requests.

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configInvalid } from '#gateway/issuer/config-fault.ts';
import { createAuthorizationServer } from '#gateway/issuer/issuer.ts';
import { createMemoryStore } from '#gateway/issuer/memory-store.ts';
import type { IssuerNotice, IssuerPorts, IssuerStore } from '#gateway/issuer/ports.ts';
import { issuerSettings } from '#gateway/issuer/settings.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { Failure } from '#std/failure.ts';
import type { AuthServer } from './world.ts';

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
