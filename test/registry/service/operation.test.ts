// The service as `skep serve` starts it: listeners, metrics, limits, and what is left when it cannot start.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import { openDatabase } from '#hosts/database.ts';
import { type Service as Started, startService } from '#hosts/registry/serve.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE } from './gate.ts';
import { openService, type Service } from './service.ts';

let backing: Service;
let issuer: Issuer;
let started: Started | undefined;

beforeAll(async () => {
  backing = await openService();
  issuer = await startIssuer();
});

afterEach(async () => {
  await started?.stop();
  started = undefined;
});

afterAll(async () => {
  await backing.close();
  await issuer.close();
});

function configuration(more: string): RegistryConfig {
  const text = `registryName: catalogue
namespace: fleet
listen: {host: 127.0.0.1, port: 0}
registries: [{name: tools, file: {path: tools.json}}]
${more}`;
  const read = readRegistryConfig(text, 'config.yaml');
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.config;
}

async function start(more: string): Promise<Started> {
  started = await startService(configuration(more), backing.store, pino({ level: 'silent' }));
  return started;
}

async function scrape({ metricsUrl }: Started): Promise<string> {
  const response = await fetch(`${metricsUrl}/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return response.text();
}

const METRICS = 'metrics: {host: 127.0.0.1, port: 0}';

test('once it is to stop it is not ready, and answers whoever still comes until the grace is over', async () => {
  const service = await start('auth: {mode: anonymous}\nlimits: {shutdownGrace: 1h}');
  const ready = async () => (await fetch(`${service.url}/readiness`)).status;
  expect(await ready()).toBe(200);
  void service.drain();
  expect(await ready()).toBe(503);
  const headers = { connection: 'close' };
  expect((await fetch(`${service.url}/tools/v0.1/servers`, { headers })).status).toBe(200);
  expect((await fetch(`${service.url}/health`, { headers })).status).toBe(200);
});

test('metrics have a listener of their own, which knows nothing else and asks for no token', async () => {
  await backing.fill([], '2026-01-01T00:00:00.000Z');
  const auth = `auth: {oauth: {resourceUrl: "https://r.example", providers: [{name: main, issuerUrl: "${issuer.url}", audience: "${AUDIENCE}", allowPrivateIP: true}]}}`;
  const service = await start(`${METRICS}\n${auth}\n`);
  const headers = { authorization: `Bearer ${await issuer.token('jwt', AUDIENCE)}` };
  for (const path of ['/tools/v0.1/servers', '/tools/v0.1/servers?limit=2', '/registry/tools/v0.1/servers']) {
    expect((await fetch(`${service.url}${path}`, { headers })).status).toBe(200);
  }
  expect((await fetch(`${service.url}/made-up-${Math.random()}`, { headers })).status).toBe(404);
  expect((await fetch(`${service.url}/metrics`, { headers })).status).toBe(404);
  expect((await fetch(`${service.url}/metrics`)).status).toBe(401);
  const text = await scrape(service);
  expect(text).toContain('skep_http_requests_total{method="GET",route="/:registry/v0.1/servers",status="200"} 2\n');
  expect(text).toContain('skep_http_requests_total{method="GET",route="none",status="404"} 2\n');
  expect(text).toContain('skep_http_request_seconds_count{route="/:registry/v0.1/servers"} 2\n');
  expect(text).toContain('skep_tokens_total{outcome="accepted",provider="main"} 5\n');
  expect(text).toContain('skep_tokens_total{outcome="credentials-missing",provider=""} 1\n');
  expect(text).toContain('skep_database_up 1\n');
  expect(text).toContain('skep_registry_servers{registry="tools"} 0\n');
  expect(text).toMatch(/^process_resident_memory_bytes [0-9]{7,}$/m);
  expect((await fetch(`${service.metricsUrl}/tools/v0.1/servers`)).status).toBe(404);
  expect((await fetch(`${service.metricsUrl}/metrics`, { method: 'POST' })).status).toBe(405);
});

test('without the database the metrics say so', async () => {
  const service = await start(`${METRICS}\nauth: {mode: anonymous}\n`);
  await backing.loseDatabase();
  expect((await fetch(`${service.url}/tools/v0.1/servers`)).status).toBe(503);
  const text = await scrape(service);
  expect(text).toContain('skep_database_up 0\n');
  expect(text).toContain('route="/:registry/v0.1/servers",status="503"} 1\n');
  await backing.restoreDatabase();
  expect(await scrape(service)).toContain('skep_database_up 1\n');
});

test('without a database in the configuration it looks for one at the defaults that the page of settings lists', async () => {
  const { database } = configuration('auth: {mode: anonymous}');
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('### registry.yaml: database\n');
  expect(section.split('\n### ', 1)[0]).not.toMatch(/memory/);
  for (const name of ['host', 'port', 'user', 'migrationUser', 'database', 'sslMode', 'maxOpenConns'] as const) {
    const [, , value] =
      new RegExp(`^\\| \`database\\.${name}\` \\|([^|]*)\\| \`([^|]*)\` \\|`, 'm').exec(section) ?? [];
    expect(value, name).toBe(JSON.stringify(database[name]));
  }
  const nowhere = await freePort();
  const store = openDatabase({ ...database, host: '127.0.0.1', port: nowhere });
  started = await startService(configuration('auth: {mode: anonymous}'), store, pino({ level: 'silent' }));
  expect((await fetch(`${started.url}/readiness`)).status).toBe(503);
  expect((await fetch(`${started.url}/tools/v0.1/servers`)).status).toBe(503);
  await store.close();
});

test('without metrics in the configuration there is no further listener', async () => {
  expect((await start('auth: {mode: anonymous}\n')).metricsUrl).toBeUndefined();
});

function occupy(port: number): Promise<{ readonly port: number; free(): Promise<void> }> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const own = typeof address === 'object' && address !== null ? address.port : 0;
      resolve({ port: own, free: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

test.each(['registry', 'metrics'])('where the port of the %s is taken, nothing stays open', async (which) => {
  const taken = await occupy(0);
  const other = await occupy(0);
  await other.free();
  const [listen, metrics] = which === 'registry' ? [taken.port, other.port] : [other.port, taken.port];
  const config = {
    ...configuration('auth: {mode: anonymous}\n'),
    listen: { host: '127.0.0.1', port: listen },
    metrics: { host: '127.0.0.1', port: metrics },
  };
  await expect(startService(config, backing.store, pino({ level: 'silent' }))).rejects.toMatchObject({
    code: 'listen-failed',
    message: expect.stringContaining(`127.0.0.1:${taken.port}`),
  });
  await (await occupy(other.port)).free();
  await taken.free();
});

test('a client that asks too much waits, but not for the probes; who it is nobody but a trusted proxy may say', async () => {
  const limited = await openService('auth: {mode: anonymous}', 'limits: {requestsPerMinute: 1}');
  try {
    const ask = (forwarded: string) => limited.get('/tools/v0.1/servers', { 'x-forwarded-for': forwarded });
    for (let index = 0; index < 10; index += 1) expect((await ask(`192.0.2.${index}`)).status).toBe(200);
    const { status, text, headers } = await ask('192.0.2.99');
    expect({ status, text, retry: headers['retry-after'], cors: headers['access-control-allow-origin'] }).toEqual({
      status: 429,
      text: '{"error":"too many requests"}',
      retry: expect.stringMatching(/^(59|60)$/),
      cors: '*',
    });
    expect((await limited.get('/health')).status).toBe(200);
    expect((await limited.get('/readiness')).status).toBe(200);
  } finally {
    await limited.close();
  }
  const trusting = await openService(
    'auth: {mode: anonymous}',
    'limits: {requestsPerMinute: 1, trustedProxies: [127.0.0.0/8]}',
  );
  try {
    const ask = (forwarded: string) => trusting.get('/tools/v0.1/servers', { 'x-forwarded-for': forwarded });
    for (let index = 0; index < 20; index += 1) expect((await ask(`192.0.2.${index}`)).status).toBe(200);
    for (let index = 0; index < 10; index += 1) await ask('192.0.2.200');
    expect((await ask('192.0.2.200')).status).toBe(429);
    expect((await ask('198.51.100.1, 192.0.2.200')).status).toBe(429);
  } finally {
    await trusting.close();
  }
});

test('connections beyond the limit are ended, and the others go on', async () => {
  const service = await start('auth: {mode: anonymous}\nlimits: {connections: 1}\n');
  const first = await fetch(`${service.url}/health`);
  expect(first.status).toBe(200);
  await expect(fetch(`${service.url}/health`, { headers: { connection: 'close' } })).rejects.toThrow();
  await first.text();
});
