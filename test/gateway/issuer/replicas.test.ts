// Tests two replicas with a shared Redis: codes and tokens are used once, and no person gets another person's login. A
// Redis failover causes at most clear errors.

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { MASTER_NAME, REDIS_USER, type SentinelWorld, startSentinel } from '../../harness/redis-sentinel.ts';
import { configOf, type DirectIssuer, oauth2To, oidcTo, openDirect } from './direct.ts';
import { newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { type AuthServer, authorizeUrl, newClient, newPkce, redeem, refresh, tokensOf } from './world.ts';

const redis: SentinelWorld | undefined = await startSentinel();
let provider: RecordingProvider;
let issuer: DirectIssuer;

function storage({ sentinel }: SentinelWorld): AuthServer['storage'] {
  return {
    type: 'redis',
    redis_config: {
      sentinel_config: { master_name: MASTER_NAME, sentinel_addrs: [sentinel], db: 0 },
      auth_type: 'aclUser',
      acl_user_config: { username_env_var: 'REDIS_USER', password_env_var: 'REDIS_PASSWORD' },
      key_prefix: 'thv:auth:{tests:weather}:',
      dial_timeout: '5s',
      read_timeout: '3s',
      write_timeout: '3s',
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'skep-replicas-'));

function openReplicas(upstreams: (origin: string) => AuthServer['upstreams']): Promise<DirectIssuer> {
  if (redis === undefined) throw new Error('there is no Redis');
  return openDirect({
    replicas: 2,
    environment: { REDIS_USER: REDIS_USER.name, REDIS_PASSWORD: REDIS_USER.password },
    config: (origin) => ({
      ...configOf(origin, upstreams(origin)),
      signing_key_config: { key_dir: folder, signing_key_file: 'key.pem' },
      hmac_secret_files: [join(folder, 'hmac')],
      storage: storage(redis),
    }),
  });
}

beforeAll(async () => {
  provider = await startRecordingProvider();
  provider.strangers = true;
  if (redis === undefined) return;
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  writeFileSync(join(folder, 'hmac'), 'x'.repeat(40));
  issuer = await openReplicas((origin) => [oidcTo(origin, provider)]);
});
afterAll(async () => {
  await issuer?.close();
  await redis?.stop();
  await provider.close();
});

/** Logs in a new person and returns the outcome. */
async function logIn() {
  const registered = await newClientOrNone();
  if (registered === undefined)
    return { outcome: 'error', status: 503, error: 'temporarily_unavailable', text: '' } as const;
  const pkce = newPkce();
  const place = await newPerson().visit(authorizeUrl(issuer, registered, pkce));
  const code = place.url.searchParams.get('code');
  if (place.status !== 0 || code === null) {
    return {
      outcome: 'error',
      status: place.status,
      error: place.url.searchParams.get('error'),
      text: place.text,
    } as const;
  }
  const upstreamCode = place.trail.flatMap((url) => /[?&]code=(code-\d+)/.exec(url)?.[1] ?? []).at(-1);
  return { outcome: 'code', client: registered, pkce, code, upstreamCode } as const;
}

async function newClientOrNone(): Promise<string | undefined> {
  const id = await newClient(issuer);
  return id === 'undefined' ? undefined : id;
}

async function mustLogIn() {
  const login = await logIn();
  if (login.outcome !== 'code') throw new Error(JSON.stringify(login));
  return login;
}

describe.skipIf(redis === undefined)('two replicas', () => {
  it('share one registration at a provider, also after a restart', async () => {
    const own = await startRecordingProvider();
    own.answers = { '/register': () => ({ client_id: 'of-the-provider', client_secret: 'given' }) };
    const more = {
      client_id: undefined,
      redirect_uri: 'https://auth.example.com/oauth/callback',
      dcr_config: { registration_endpoint: `${own.url}/register` },
    };
    try {
      for (let start = 0; start < 2; start += 1) {
        const several = await openReplicas((at) => [oauth2To(at, own, more)]);
        const visits = Array.from({ length: 4 }, async () => {
          const url = authorizeUrl(several, await newClient(several), newPkce());
          return (await newPerson({ client: `${own.url}/` }).visit(url)).url.searchParams.get('client_id');
        });
        expect(await Promise.all(visits)).toEqual(Array(4).fill('of-the-provider'));
        await several.close();
      }
      expect(own.count('/register')).toBe(1);
      const keys = (await redis?.keys()) ?? [];
      expect(keys.filter((key) => key.includes('dcr:')).length).toBe(1);
    } finally {
      await own.close();
    }
  });

  it('redeem a code once, and a second attempt revokes its tokens', async () => {
    const login = await mustLogIn();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => redeem(issuer, login.client, login.code, login.pkce)),
    );
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBe(1);
    expect(answers.map(({ body }) => body.error ?? 'none').toSorted()).toEqual([
      ...Array(9).fill('invalid_grant'),
      'none',
    ]);
    const token = String(given[0]?.body.refresh_token);
    expect((await refresh(issuer, login.client, token)).status).toBe(400);
  });

  it('accept a state once', async () => {
    const client = await newClient(issuer);
    const person = newPerson({ client: `${provider.url}/` });
    const { url } = await person.visit(authorizeUrl(issuer, client, newPkce()));
    const upstream = await fetch(url, { redirect: 'manual' });
    const back = upstream.headers.get('location') ?? '';
    const cookies = person.cookies.get(new URL(issuer.issuer).host) ?? new Map<string, string>();
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => fetch(back, { headers: { cookie }, redirect: 'manual' })),
    );
    expect(answers.filter(({ status }) => status === 303).length).toBe(1);
    expect(answers.filter(({ status }) => status === 400).length).toBe(9);
  });

  it('refresh a token of a provider once for both', async () => {
    provider.answers = {
      '/token': (answer, { form }) =>
        form.get('grant_type') === 'refresh_token'
          ? { ...answer, id_token: undefined }
          : { ...answer, expires_in: 0.001 },
    };
    const login = await mustLogIn();
    const { access_token: token } = tokensOf(await redeem(issuer, login.client, login.code, login.pkce));
    const caller = { key: 'x', claims: decodeJwt(token) as JsonObject };
    const before = provider.count('/token');
    const found = await Promise.all(
      issuer.replicas.flatMap((each) => [each.upstreamToken(caller), each.upstreamToken(caller)]),
    );
    provider.answers = {};
    expect(new Set(found).size).toBe(1);
    expect(found[0]).toContain('refresh_token');
    expect(provider.count('/token') - before).toBe(1);
  });

  it('keep tokens of providers encrypted, and no code or token of clients', async () => {
    const login = await mustLogIn();
    const { refresh_token: token = '' } = tokensOf(await redeem(issuer, login.client, login.code, login.pkce));
    const stored = (await redis?.dump()) ?? '';
    expect(stored).toContain('upstream:');
    for (const secret of ['access-of-', 'refresh-of-', login.code, token]) expect(stored).not.toContain(secret);
  });

  it('with 100 parallel logins and a failover: each login ends with its own session or a clear error', async () => {
    const people = Array.from({ length: 100 }, async () => {
      const login = await logIn();
      if (login.outcome !== 'code') return login;
      const { status, body } = await redeem(issuer, login.client, login.code, login.pkce);
      if (status !== 200) return { outcome: 'error', status, error: String(body.error), text: '' } as const;
      const { client, upstreamCode } = login;
      const [token, renewal] = [String(body.access_token), String(body.refresh_token)];
      return { outcome: 'session', client, token, renewal, upstreamCode } as const;
    });
    await Promise.race(people);
    await redis?.failOver();
    const ends = await Promise.all(people);
    let valid = 0;
    for (const end of ends) {
      if (end.outcome === 'error') {
        expect(`${end.status} ${end.error} ${end.text}`).toMatch(CLEAR);
        continue;
      }
      const token = await issuer.open.upstreamToken({ key: 'x', claims: decodeJwt(end.token) as JsonObject });
      // The last writes before the failover may be lost, but a token never belongs to another person.
      if (token !== undefined) expect(token).toBe(`access-of-person-of-${end.upstreamCode}-authorization_code`);
      const renewed = await refresh(issuer, end.client, end.renewal);
      if (renewed.status === 200) expect(claimsOf(String(renewed.body.access_token))).toEqual(claimsOf(end.token));
      else expect(`${renewed.status} ${renewed.body.error}`).toMatch(/^40[01] invalid_(grant|client)$/);
      // A session is valid if neither its provider tokens nor its grant were lost.
      if (token !== undefined && renewed.status === 200) valid += 1;
    }
    const sessions = ends.flatMap((end) => (end.outcome === 'session' ? [claimsOf(end.token)] : []));
    for (const claim of ['sub', 'tsid'] as const)
      expect(new Set(sessions.map((claims) => claims[claim])).size).toBe(sessions.length);
    expect(valid).toBeGreaterThan(0);
    expect(ends.filter(({ outcome }) => outcome === 'session').length).toBeGreaterThan(0);
    await expect.poll(async () => JSON.stringify(await logIn())).toContain('"outcome":"code"');
  }, 180_000);
});

/** Returns subject, session and client of a token. */
function claimsOf(token: string) {
  const { sub, tsid, client_id: client } = decodeJwt(token);
  return { sub, tsid, client };
}

/** Matches errors that tell the recipient to try again or to log in. */
const CLEAR =
  /temporarily_unavailable|invalid_client|invalid_grant|slow_down|Not at the moment|cannot be continued|cannot be used/;
