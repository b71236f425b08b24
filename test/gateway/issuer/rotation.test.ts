// Tests the rotation of signing keys and HMAC secrets on two replicas at different times: no call fails, and no session
// ends.

import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutbound } from '#adapters/http/outbound.ts';
import { type AuthorizationServer, createAuthorizationServer } from '#gateway/issuer/issuer.ts';
import { createMemoryStore } from '#gateway/issuer/memory-store.ts';
import { mountIssuer } from '#gateway/issuer/mount.ts';
import type { IssuerNotice } from '#gateway/issuer/ports.ts';
import { issuerSettings } from '#gateway/issuer/settings.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { PATIENCE_MS } from '../../harness/patience.ts';
import { configOf, oidcTo, RESOURCE } from './direct.ts';
import { newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { authorizeUrl, newClient, newPkce, redeem, refresh, type Tokens, tokensOf } from './world.ts';

const SETTLED_MS = 120_000;

type KeyKind = 'rsa' | 'P-256' | 'P-384' | 'P-521' | 'ed25519';

function newKey(kind: KeyKind): string {
  if (kind === 'rsa') {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  }
  if (kind === 'ed25519')
    return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return generateKeyPairSync('ec', { namedCurve: kind }).privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}

interface Files {
  key: string;
  oldKey: string;
  secret: string;
  oldSecret: string;
}

let monotonic = 1_000_000;
let provider: RecordingProvider;
let origin: string;
const first: Files = { key: newKey('P-256'), oldKey: newKey('rsa'), secret: 'a'.repeat(32), oldSecret: 'b'.repeat(32) };
const replicas = [{ ...first }, { ...first }];
const notices: IssuerNotice[] = [];
let servers: readonly AuthorizationServer[];
const server = createServer();
const outbound = createOutbound({ allowPrivate: [], version: 'test' });
/** Number of the next request. The replicas get the requests in turn. */
let turn = 0;

beforeAll(async () => {
  provider = await startRecordingProvider();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = { now: proxyClock.now, monotonic: () => monotonic, after: proxyClock.after };
  const store = createMemoryStore({ monotonic: () => 0 });
  const config = {
    ...configOf(origin, [oidcTo(origin, provider)]),
    signing_key_config: { key_dir: '', signing_key_file: 'key', fallback_key_files: ['oldKey'] },
    hmac_secret_files: ['/secret', '/oldSecret'],
  };
  servers = replicas.map((files) =>
    createAuthorizationServer(
      {
        fetch: outbound.request,
        store,
        clock,
        random: proxyClock.random,
        files: { read: (path) => files[path.slice(1) as keyof Files] },
        environment: {},
        notify: (notice) => void notices.push(notice),
      },
      issuerSettings(config, RESOURCE),
      () => undefined,
    ),
  );
  const mounted = servers.map((each) => mountIssuer(each, false));
  server.on('request', (request, response) => {
    turn += 1;
    mounted[turn % mounted.length]?.(new URL(request.url ?? '/', origin).pathname, request, response);
  });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await provider.close();
  await outbound.close();
});

interface Session {
  readonly client: string;
  tokens: Tokens;
}

async function logIn(): Promise<Session> {
  const [client, pkce] = [await newClient({ issuer: origin }), newPkce()];
  const { url } = await newPerson().visit(authorizeUrl({ issuer: origin }, client, pkce));
  const answer = await redeem({ issuer: origin }, client, url.searchParams.get('code') ?? `none: ${url}`, pkce);
  return { client, tokens: tokensOf(answer) };
}

/** Checks that a new login and refreshes at both replicas succeed, and that both replicas accept every token. */
async function checkAll(sessions: Session[]): Promise<void> {
  sessions.push(await logIn());
  for (const session of sessions) {
    for (let time = 0; time < servers.length; time += 1) {
      const answer = await refresh({ issuer: origin }, session.client, session.tokens.refresh_token ?? '');
      session.tokens = tokensOf(answer);
      for (const each of servers) {
        await jwtVerify(session.tokens.access_token, createLocalJWKSet(each.publishedKeys()));
        const { tsid } = decodeJwt(session.tokens.access_token);
        expect(await each.upstreamToken(String(tsid), 'login')).toContain('access-of-');
      }
    }
  }
}

describe('a rotation', () => {
  it('of keys and secrets, one replica after the other, lets no call fail and ends no session', async () => {
    const sessions: Session[] = [];
    await checkAll(sessions);
    const next: Files = { key: newKey('ed25519'), oldKey: first.key, secret: 'c'.repeat(32), oldSecret: first.secret };
    for (const files of replicas) {
      // The files of the second replica change a minute later, as mounted Secrets on another node do.
      Object.assign(files, next);
      monotonic += 60_000;
      await checkAll(sessions);
    }
    const algorithms = () => new Set(sessions.map(({ tokens }) => decodeProtectedHeader(tokens.access_token).alg));
    expect(algorithms()).toEqual(new Set(['ES256']));
    monotonic += SETTLED_MS;
    await checkAll(sessions);
    expect(algorithms()).toEqual(new Set(['EdDSA']));
  });

  it('to an invalid key keeps the last valid keys, and is reported once', async () => {
    const sessions: Session[] = [];
    for (const files of replicas) Object.assign(files, { key: 'no key', secret: 'short' });
    await checkAll(sessions);
    const codes = notices.map(({ code }) => code).filter((code) => code.endsWith('-invalid'));
    expect(codes.toSorted()).toEqual([
      'issuer-key-invalid',
      'issuer-key-invalid',
      'issuer-secret-invalid',
      'issuer-secret-invalid',
    ]);
  });
});

it.each([
  ['rsa', 'RS256'],
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
  ['ed25519', 'EdDSA'],
] as const)('a key of kind %s signs with %s', async (kind, algorithm) => {
  const next = { ...first, key: newKey(kind) };
  for (const files of replicas) Object.assign(files, next);
  servers.map((each) => each.publishedKeys());
  monotonic += SETTLED_MS;
  const { tokens } = await logIn();
  expect(decodeProtectedHeader(tokens.access_token).alg).toBe(algorithm);
  for (const each of servers) await jwtVerify(tokens.access_token, createLocalJWKSet(each.publishedKeys()));
});

const FOREVER = { timeout: PATIENCE_MS, interval: 20 };
const WORKERS = 8;
const ROTATIONS = 3;

it('three rotations under load let no call fail: refreshes, verifications, provider tokens and new logins', async () => {
  const rounds = Array<number>(WORKERS).fill(0);
  let done = false;
  async function work(worker: number): Promise<void> {
    const sessions: Session[] = [];
    while (!done) {
      await checkAll(sessions);
      // Keeps the oldest session, and the newest session with the new keys.
      sessions.splice(1, sessions.length - 2);
      rounds[worker] = (rounds[worker] ?? 0) + 1;
    }
  }
  const workers = rounds.map((_, worker) => work(worker));
  // If a worker fails, the whole test fails at once.
  const failed = Promise.all(workers).then(() => undefined);
  const everyoneWorked = async () => {
    // The current round began before this call, so each worker must complete one more whole round.
    const goal = rounds.map((count) => count + 2);
    await Promise.race([
      failed,
      expect.poll(() => rounds.every((count, at) => count >= (goal[at] ?? 0)), FOREVER).toBe(true),
    ]);
  };
  await everyoneWorked();
  for (let turn = 0; turn < ROTATIONS; turn += 1) {
    const [{ key: oldKey, secret: oldSecret } = first] = replicas;
    const next = { key: newKey('P-256'), oldKey, secret: `${turn}`.repeat(40), oldSecret };
    for (const files of replicas) {
      Object.assign(files, next);
      await everyoneWorked();
      monotonic += 60_000;
      await everyoneWorked();
    }
    monotonic += SETTLED_MS;
    await everyoneWorked();
  }
  done = true;
  await failed;
  expect(Math.min(...rounds)).toBeGreaterThan(ROTATIONS * 4);
});
