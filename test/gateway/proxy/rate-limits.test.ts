// Tests rate limits that three replicas of a proxy share in a real Redis: exact counts, users, tools, and an outage of
// Redis. In one file, because the tests share the server behind the replicas, and nearly all tests also Redis and the
// issuer.

import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RateLimitFields } from '#contracts/gate/rate-limiting.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { type RedisServer, startRedis } from '../../harness/redis.ts';
import { startBackend, type TestBackend } from './backend.ts';
import { type Answered, callTool, get, runProxy, send, type TestedProxy } from './world.ts';

let redis: RedisServer | undefined = await startRedis();
let backend: TestBackend;
let issuer: Issuer;
let running: TestedProxy[] = [];
let names = 0;

beforeAll(async () => {
  backend = await startBackend();
  issuer = await startIssuer();
});
afterEach(async () => {
  await Promise.all(running.map((proxy) => proxy.stop()));
  running = [];
});
afterAll(async () => {
  await Promise.all([backend.close(), issuer.close()]);
  await redis?.stop();
});

function users(): Pick<RunConfig, 'oidc_config'> {
  return {
    oidc_config: {
      issuer: issuer.url,
      audience: 'limits',
      jwks_url: issuer.jwksUrl,
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: true,
      insecure_allow_http: true,
      resource_url: 'http://127.0.0.1/mcp',
      scopes: [],
    },
  };
}

async function bearer(claims: Record<string, unknown>): Promise<Record<string, string>> {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return { authorization: `Bearer ${await issuer.sign({ iss: issuer.url, aud: 'limits', exp, ...claims })}` };
}

/** Starts replicas with a new server name, so that tests do not share counts. */
async function replicas(limits: RateLimitFields, more: Partial<RunConfig> = {}, count = 3): Promise<TestedProxy[]> {
  names += 1;
  const settings: Partial<RunConfig> = {
    name: `limited-${names}`,
    target_host: '127.0.0.1',
    target_port: backend.port,
    audit_config: { enabled: true, component: 'limited' },
    scaling_config: { session_redis: { address: redis?.address ?? '', db: 0 } },
    rate_limiting: limits,
    ...more,
  };
  running = await Promise.all(Array.from({ length: count }, () => runProxy(settings)));
  return running;
}

/** Sends calls from `concurrency` clients to the replicas in turn. Returns the number of allowed calls. */
async function callAll(
  proxies: readonly TestedProxy[],
  calls: number,
  concurrency: number,
  done: (answered: Answered) => void = () => undefined,
): Promise<number> {
  let [next, allowed] = [0, 0];
  async function client(): Promise<void> {
    for (let turn = next++; turn < calls; turn = next++) {
      const answered = await callTool(proxies[turn % proxies.length] ?? { url: '' }, 'echo');
      if (answered.status === 200) allowed += 1;
      done(answered);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client));
  return allowed;
}

const METRICS: RunConfig['telemetry_config'] = {
  service_name: 'limited',
  insecure: true,
  metrics_enabled: false,
  tracing_enabled: false,
  sampling_rate: '0.05',
  use_legacy_attributes: false,
  enable_prometheus_metrics_path: true,
};

const SLOW = '1000h';

describe.skipIf(redis === undefined)('limits that replicas share', () => {
  it('permit exactly as many calls as there are tokens', async () => {
    const proxies = await replicas({ shared: { maxTokens: 200, refillPeriod: SLOW } });
    const codes = new Set<unknown>();
    const allowed = await callAll(proxies, 800, 24, ({ status, json }) => {
      if (status !== 200) codes.add(`${status} ${json.error.code}`);
    });
    expect(allowed).toBe(200);
    expect([...codes]).toEqual(['429 -32029']);
    expect(backend.calls('tools/call').length).toBe(200);
  });

  it('fill again at the rate of the limit', async () => {
    const [perSecond, burst] = [400, 40];
    const proxies = await replicas({ shared: { maxTokens: burst, refillPeriod: `${(1000 * burst) / perSecond}ms` } });
    const began = performance.now();
    const allowed = await callAll(proxies, 3000, 32);
    const most = burst + ((performance.now() - began) / 1000) * perSecond;
    expect(allowed).toBeLessThanOrEqual(most * 1.02);
    expect(allowed).toBeGreaterThan(burst);
  });

  it('return the time of the next attempt, and the audit names the limit', async () => {
    const [proxy] = await replicas(
      { tools: [{ name: 'echo', shared: { maxTokens: 1, refillPeriod: '90s' } }] },
      { telemetry_config: METRICS },
    );
    expect((await callTool(proxy ?? { url: '' }, 'echo')).status).toBe(200);
    const refused = await callTool(proxy ?? { url: '' }, 'echo');
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(60);
    expect(seconds).toBeLessThanOrEqual(90);
    expect(refused.json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32029, message: 'Rate limit exceeded', data: { retryAfterSeconds: seconds } },
    });
    expect(proxy?.audit.at(-1).metadata.extra).toMatchObject({
      refusal: 'rate-limit-tool',
      refusal_detail: 'tools[echo].shared',
    });
    const { text } = await get(`${proxy?.origin}/metrics`);
    expect(text).toContain(
      `skep_proxy_rate_limit_refusals_total{server="limited-${names}",reason="rate-limit-tool"} 1`,
    );
  });

  it('count only calls of tools, and not calls of tools without a limit', async () => {
    const [proxy] = await replicas({ tools: [{ name: 'echo', shared: { maxTokens: 1, refillPeriod: SLOW } }] });
    for (const tool of ['echo', 'fail', 'fail']) expect((await callTool(proxy ?? { url: '' }, tool)).status).toBe(200);
    expect((await send(proxy ?? { url: '' }, 'tools/list')).status).toBe(200);
    expect((await callTool(proxy ?? { url: '' }, 'echo')).status).toBe(429);
  });

  it('use no token of a limit if another limit refuses the call', async () => {
    const [first, second] = await replicas({
      shared: { maxTokens: 3, refillPeriod: SLOW },
      tools: [{ name: 'echo', shared: { maxTokens: 1, refillPeriod: SLOW } }],
    });
    const statuses: number[] = [];
    for (const [proxy, tool] of [
      [first, 'echo'],
      [second, 'echo'],
      [first, 'echo'],
      [second, 'fail'],
      [first, 'fail'],
      [second, 'fail'],
    ] as const)
      statuses.push((await callTool(proxy ?? { url: '' }, tool)).status);
    expect(statuses).toEqual([200, 429, 429, 200, 200, 429]);
  });

  it('identify a user by issuer and subject, for any client and token', async () => {
    const [first, second, third] = await replicas({ perUser: { maxTokens: 2, refillPeriod: SLOW } }, users());
    const ada = [await bearer({ sub: 'ada', azp: 'desktop' }), await bearer({ sub: 'ada', azp: 'laptop', jti: '2' })];
    const statuses: number[] = [];
    for (const [proxy, headers] of [
      [first, ada[0]],
      [second, ada[1]],
      [third, ada[1]],
      [third, await bearer({ sub: 'bob' })],
    ] as const)
      statuses.push((await callTool(proxy ?? { url: '' }, 'echo', {}, headers)).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
    const client = new Redis(`redis://${redis?.address}`);
    const keys = await client.keys(`*limited-${names}*`);
    client.disconnect();
    expect(keys.length).toBe(2);
    expect(keys.join(' ')).not.toContain('ada');
  });

  it.each([
    ['rate-limit-user', { perUser: { maxTokens: 1, refillPeriod: SLOW } }],
    ['rate-limit-tool-user', { tools: [{ name: 'echo', perUser: { maxTokens: 1, refillPeriod: SLOW } }] }],
  ])('record in the audit that it was %s', async (code, limits) => {
    const [proxy] = await replicas(limits, users(), 1);
    const headers = await bearer({ sub: 'ada' });
    await callTool(proxy ?? { url: '' }, 'echo', {}, headers);
    await callTool(proxy ?? { url: '' }, 'echo', {}, headers);
    expect(proxy?.audit.map(({ metadata }) => metadata.extra.refusal)).toEqual([undefined, code]);
  });

  it('use the name of a tool for clients', async () => {
    const [proxy] = await replicas(
      { tools: [{ name: 'parrot', shared: { maxTokens: 1, refillPeriod: SLOW } }] },
      { tools_override: { echo: { name: 'parrot' } } },
    );
    const statuses = [await callTool(proxy ?? { url: '' }, 'parrot'), await callTool(proxy ?? { url: '' }, 'parrot')];
    expect(statuses.map(({ status }) => status)).toEqual([200, 429]);
  });

  it('use no token for a call that policies refuse', async () => {
    const [proxy] = await replicas({ shared: { maxTokens: 1, refillPeriod: SLOW } }, { tools_filter: ['echo'] });
    for (const tool of ['fail', 'fail', 'fail']) await callTool(proxy ?? { url: '' }, tool);
    expect((await callTool(proxy ?? { url: '' }, 'echo')).status).toBe(200);
  });

  it('apply to clients of both eras', async () => {
    const [proxy] = await replicas({ shared: { maxTokens: 1, refillPeriod: SLOW } });
    const stateless = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    };
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    };
    expect((await callTool(proxy ?? { url: '' }, 'echo')).status).toBe(200);
    const refused = await send(
      proxy ?? { url: '' },
      'tools/call',
      { name: 'echo', arguments: {}, _meta: meta },
      stateless,
    );
    expect([refused.status, refused.json.error.code]).toEqual([429, -32029]);
  });

  it('each replica counts alone while Redis is unreachable, and all replicas share counts afterwards', async () => {
    const proxies = await replicas({ shared: { maxTokens: 10, refillPeriod: SLOW } });
    expect(await callAll(proxies, 6, 3)).toBe(6);
    const port = Number(redis?.address.split(':')[1]);
    await redis?.stop();
    // Each replica had already allowed 2 of 10 calls, so each allows 8 more.
    expect(await callAll(proxies, 60, 6)).toBe(24);
    for (const proxy of proxies) {
      await proxy.written('rate-limits-counted-alone');
      expect(proxy.audit.at(-1).metadata.extra).toMatchObject({ refusal: 'rate-limit-shared', rate_limits: 'replica' });
    }
    redis = await startRedis(port);
    // The new Redis has no counts of earlier calls.
    await Promise.all(
      proxies.map((proxy) => expect.poll(() => callTool(proxy, 'echo').then(({ status }) => status)).toBe(200)),
    );
    for (const proxy of proxies) await proxy.written('Redis answers again');
    expect(await callAll(proxies, 60, 6)).toBe(7);
  });

  it('a proxy starts while Redis is unreachable', async () => {
    const [proxy] = await replicas(
      { shared: { maxTokens: 1, refillPeriod: SLOW } },
      { scaling_config: { session_redis: { address: '127.0.0.1:1', db: 0 } } },
      1,
    );
    const statuses = [await callTool(proxy ?? { url: '' }, 'echo'), await callTool(proxy ?? { url: '' }, 'echo')];
    expect(statuses.map(({ status }) => status)).toEqual([200, 429]);
  });
});

describe('a configuration is refused', () => {
  const shared = { maxTokens: 1, refillPeriod: '1s' };
  it.each<[string, Partial<RunConfig>, string]>([
    ['without a Redis', { rate_limiting: { shared } }, '/rate_limiting needs /scaling_config/session_redis'],
    [
      'with a limit for each user and without authentication',
      {
        rate_limiting: { tools: [{ name: 'echo', perUser: shared }] },
        scaling_config: { session_redis: { address: '127.0.0.1:1', db: 0 } },
      },
      '/oidc_config is absent',
    ],
    [
      'with a bucket that takes no time to fill',
      {
        rate_limiting: { shared: { maxTokens: 1, refillPeriod: '0s' } },
        scaling_config: { session_redis: { address: '127.0.0.1:1', db: 0 } },
      },
      'not longer than 0s',
    ],
  ])('%s', async (_name, settings, message) => {
    const target = { target_host: '127.0.0.1', target_port: backend.port };
    await expect(runProxy({ ...target, ...settings })).rejects.toThrow(message);
  });
});
