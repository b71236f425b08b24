// Tests the credential for a whole configuration: which block applies, and in which order headers are set and signed.
// In one file, because each case changes one part of the same configuration.

import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { OUTGOING_AUTH, OUTGOING_ENV } from '#contracts/run-config-auth.ts';
import type { CredentialCaller } from '#gateway/credentials/credential.ts';
import { credentialOf } from '#gateway/credentials/of-config.ts';
import { Failure } from '#std/failure.ts';
import { sendJson, startEndpoint } from './endpoint.ts';
import { startSignedServer, startTokenService } from './token-service.ts';
import { ANONYMOUS, outgoing, START_MS, startWorld, type World } from './world.ts';

const CONFIG: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'weather',
  namespace: 'agents',
  transport: 'streamable-http',
  proxy_mode: 'streamable-http',
  host: '127.0.0.1',
  port: 8080,
  remote_url: 'https://mcp.example.com/mcp',
  trust_proxy_headers: false,
  audit_config: { enabled: false, component: 'weather' },
};
const ADA: CredentialCaller = { key: 'ada', token: 'caller', claims: { sub: 'ada' } };
const SENT = outgoing({ authorization: 'Bearer caller', 'x-api-key': 'caller' });
const AUTH_SERVER: NonNullable<RunConfig['embedded_auth_server_config']> = {
  schema_version: 'v0.1.0',
  issuer: 'https://auth.example.com',
  token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '24h', auth_code_lifespan: '5m' },
  upstreams: [],
  scopes_supported: ['openid'],
  allowed_audiences: ['https://weather.example.com'],
  storage: { type: 'memory' },
};
const HEADER = { header_name: 'X-Api-Key', value_env_var: OUTGOING_ENV.headerValue };
const BEARER = { token_env_var: OUTGOING_ENV.bearerToken };

let world: World;
beforeEach(() => {
  world = startWorld({ [OUTGOING_ENV.headerValue]: 'injected', [OUTGOING_ENV.bearerToken]: 'own' });
});
afterEach(() => world.close());

describe('the outgoing request', () => {
  it.each<{ reason: string; config: Partial<RunConfig>; expected: Readonly<Record<string, string | undefined>> }>([
    { reason: 'without a block is unchanged', config: {}, expected: {} },
    {
      reason: 'has no token of the caller if the token is removed',
      config: { remove_caller_token: true },
      expected: { authorization: undefined },
    },
    {
      reason: 'has the headers of the caller if the removal is disabled',
      config: { remove_caller_token: false },
      expected: {},
    },
    {
      reason: 'has the injected header',
      config: { header_injection_config: HEADER },
      expected: { 'x-api-key': 'injected' },
    },
    {
      reason: 'has only the injected header if the token of the caller is removed',
      config: { header_injection_config: HEADER, remove_caller_token: true },
      expected: { 'x-api-key': 'injected', authorization: undefined },
    },
    {
      reason: 'has the bearer token, even if the token of the caller is removed',
      config: { bearer_token_config: BEARER, remove_caller_token: true },
      expected: { authorization: 'Bearer own' },
    },
    {
      reason: 'has forwarded headers in place of what authentication set',
      config: {
        bearer_token_config: BEARER,
        header_forward: { add_plaintext_headers: { Authorization: 'Basic forwarded', 'X-Api-Key': 'forwarded' } },
      },
      expected: { authorization: 'Basic forwarded', 'x-api-key': 'forwarded' },
    },
    {
      reason: 'has no forwarded headers if the server is not remote',
      config: { remote_url: undefined, header_forward: { add_plaintext_headers: { 'X-Api-Key': 'forwarded' } } },
      expected: {},
    },
    {
      reason: 'to a stdio server is unchanged, because it has no headers',
      config: { remote_url: undefined, transport: 'stdio', bearer_token_config: BEARER },
      expected: {},
    },
  ])('$reason', ({ config, expected }) => {
    const credential = credentialOf({ ...CONFIG, ...config }, world.ports);
    // The credential returns the value itself, not a promise.
    expect(credential(SENT, ADA)).toEqual({ ok: true, headers: { ...SENT.headers, ...expected } });
  });

  it('is not sent if its credential was refused: later steps are skipped', () => {
    const credential = credentialOf(
      {
        ...CONFIG,
        token_exchange_config: {
          token_url: 'https://issuer.example.com/token',
          audience: 'a',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          header_strategy: 'replace',
        },
        header_forward: { add_plaintext_headers: { Authorization: 'Basic forwarded' } },
      },
      world.ports,
    );
    expect(credential(SENT, ANONYMOUS)).toMatchObject({ ok: false, refusal: { status: 401 } });
  });

  it('has the exchanged token and then the forwarded headers', async () => {
    const endpoint = await startEndpoint((_asked, response) => {
      const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token';
      sendJson(response, 200, { access_token: 'new', issued_token_type, token_type: 'Bearer', expires_in: 300 });
    });
    const credential = credentialOf(
      {
        ...CONFIG,
        token_exchange_config: {
          token_url: endpoint.url,
          audience: 'a',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          header_strategy: 'replace',
        },
        header_forward: { add_plaintext_headers: { 'X-Api-Key': 'forwarded' } },
      },
      world.ports,
    );
    const headers = { ...SENT.headers, authorization: 'Bearer new', 'x-api-key': 'forwarded' };
    expect(await credential(SENT, ADA)).toEqual({ ok: true, headers });
    expect(credential(SENT, ADA)).toEqual({ ok: true, headers });
    await endpoint.close();
  });

  it('is signed last: the signature covers forwarded cloud headers, and cloud headers of the caller are removed', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const token = await new SignJWT({ sub: 'ada' })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime(START_MS / 1000 + 600)
      .sign(privateKey);
    await jwtVerify(token, publicKey, { currentDate: new Date(START_MS) });
    const service = await startTokenService(publicKey);
    const server = await startSignedServer(service.sessions);
    const ports = { ...world.ports, environment: { AWS_ENDPOINT_URL_STS: service.endpoint.url } };
    const url = `${server.url}/mcp`;
    const config = {
      ...CONFIG,
      remote_url: url,
      aws_sts_config: {
        region: 'eu-central-1',
        service: 'aws-mcp',
        fallback_role_arn: 'arn:aws:iam::123456789012:role/Reader',
        role_claim: 'groups',
        session_duration: 900,
        session_name_claim: 'sub',
      },
      header_forward: { add_plaintext_headers: { 'X-Amz-Meta': 'forwarded', Authorization: 'Basic forwarded' } },
    };
    const sent = {
      ...outgoing({ authorization: 'Bearer caller', 'x-amz-meta': 'caller', 'x-amz-target': 'caller' }),
      url,
    };
    const given = await credentialOf(config, ports)(sent, { ...ADA, token });
    if (!given.ok) throw new Error(JSON.stringify(given.refusal));
    expect(given.headers).toMatchObject({
      authorization: expect.stringContaining(
        'SignedHeaders=content-type;host;x-amz-date;x-amz-meta;x-amz-security-token,',
      ),
      'x-amz-meta': 'forwarded',
    });
    expect(given.headers).not.toHaveProperty('x-amz-target');
    const answer = await fetch(url, { method: 'POST', headers: { ...given.headers }, body: sent.body?.toString() });
    expect(await answer.text()).toContain('"subject":"ada"');
    await Promise.all([service.endpoint.close(), server.close()]);
  });
});

describe('with an authorization server in the process', () => {
  it('the token of the provider replaces the token of the caller', async () => {
    const credential = credentialOf(CONFIG, {
      ...world.ports,
      upstreamToken: async ({ key }) => `of ${key} at the provider`,
    });
    const given = await credential(SENT, ADA);
    expect(given.ok && given.headers.authorization).toBe('Bearer of ada at the provider');
  });

  it('a call whose login has ended is refused, and a failed lookup leads to 503', async () => {
    const ended = credentialOf(CONFIG, { ...world.ports, upstreamToken: async () => undefined });
    expect(await ended(SENT, ADA)).toMatchObject({ ok: false, refusal: { status: 401 } });
    const down = credentialOf(CONFIG, {
      ...world.ports,
      upstreamToken: () => Promise.reject(new Failure('redis-unreachable', 'no store')),
    });
    expect(await down(SENT, ADA)).toMatchObject({
      ok: false,
      refusal: { status: 503, code: 'upstream-token-unavailable' },
    });
  });
});

describe('with an authorization server and outgoing authentication', () => {
  const upstreamToken = async () => 'of the provider';
  const server = (disable: boolean): Partial<RunConfig> => ({
    embedded_auth_server_config: { ...AUTH_SERVER, disable_upstream_token_injection: disable },
  });

  it.each<{ reason: string; config: Partial<RunConfig>; expected: Readonly<Record<string, string | undefined>> }>([
    {
      reason: 'an injected header is sent together with the token of the provider',
      config: { ...server(false), header_injection_config: HEADER },
      expected: { authorization: 'Bearer of the provider', 'x-api-key': 'injected' },
    },
    {
      reason: 'a bearer token replaces the token of the caller',
      config: { ...server(false), bearer_token_config: BEARER },
      expected: { authorization: 'Bearer own' },
    },
    {
      reason: 'no token leaves if that of the provider is not wanted',
      config: server(true),
      expected: { authorization: undefined },
    },
    {
      reason: 'only the injected header leaves if the token of the provider is not wanted',
      config: { ...server(true), header_injection_config: HEADER },
      expected: { authorization: undefined, 'x-api-key': 'injected' },
    },
  ])('$reason', async ({ config, expected }) => {
    const credential = credentialOf({ ...CONFIG, ...config }, { ...world.ports, upstreamToken });
    expect(await credential(SENT, ADA)).toEqual({ ok: true, headers: { ...SENT.headers, ...expected } });
  });

  it('the token of the provider is exchanged', async () => {
    const endpoint = await startEndpoint((_asked, response) => {
      const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token';
      sendJson(response, 200, { access_token: 'new', issued_token_type, token_type: 'Bearer', expires_in: 300 });
    });
    const credential = credentialOf(
      { ...CONFIG, ...server(false), token_exchange_config: exchangeAt(endpoint.url) },
      { ...world.ports, upstreamToken },
    );
    const given = await credential(SENT, ADA);
    expect(given.ok && given.headers.authorization).toBe('Bearer new');
    expect(endpoint.asked.map(({ form }) => form.get('subject_token'))).toEqual(['of the provider']);
    await endpoint.close();
  });

  it('an exchange without the token of the provider prevents the start', () => {
    const config = {
      ...CONFIG,
      ...server(true),
      token_exchange_config: exchangeAt('https://issuer.example.com/token'),
    };
    expect(() => credentialOf(config, { ...world.ports, upstreamToken })).toThrow(Failure);
  });
});

function exchangeAt(url: string) {
  return {
    token_url: url,
    audience: 'a',
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    header_strategy: 'replace',
  } as const;
}

describe('the start fails if', () => {
  it.each<{ reason: string; config: Partial<RunConfig>; code: string }>([
    {
      reason: 'two blocks are configured',
      config: { header_injection_config: HEADER, bearer_token_config: BEARER },
      code: 'credential-config-invalid',
    },
    {
      reason: 'a secret is missing',
      config: { bearer_token_config: { token_env_var: 'UNSET' } },
      code: 'credential-secret-missing',
    },
    {
      reason: 'a forwarded header is for the proxy alone',
      config: { header_forward: { add_plaintext_headers: { 'X-Forwarded-For': '10.0.0.1' } } },
      code: 'credential-config-invalid',
    },
  ])('$reason', ({ config, code }) => {
    expect(() => credentialOf({ ...CONFIG, ...config }, world.ports)).toThrow(expect.objectContaining({ code }));
  });
});

it('this test covers every key of outgoing authentication', () => {
  expect(Object.keys(OUTGOING_AUTH).toSorted()).toEqual([
    'aws_sts_config',
    'bearer_token_config',
    'embedded_auth_server_config',
    'header_injection_config',
    'remove_caller_token',
    'token_exchange_config',
    'xaa_config',
  ]);
});
