// Tests that log, audit, metrics and telemetry contain no tokens, client secrets or argument values, at the log level
// debug and for valid, refused and broken requests.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { INTROSPECTION_CLIENT } from '../../harness/issuer.ts';
import { startProxy } from '../../harness/mcp-modes.ts';
import { sendJson } from '../credentials/endpoint.ts';
import { type FieldWorld, startFieldWorld } from './field-world.ts';
import { callTool, get, send } from './world.ts';

let world: FieldWorld;
beforeAll(async () => {
  world = await startFieldWorld();
});
afterAll(() => world.close());

const RESOURCE = 'https://fields.example/mcp';
const CLIENT_SECRET = 'client-secret-of-the-exchange';
const COLLECTOR_SECRET = 'secret-of-the-collector';
const INJECTED = 'value-of-the-injected-header';
const FORWARDED = 'value-of-the-forwarded-header';
const ARGUMENT = 'private-words-of-an-argument';
const QUERY = 'token-in-a-query';

function settings(metricsPort: number): Partial<RunConfig> {
  return {
    debug: true,
    remote_url: `${world.backend.url}/mcp`,
    audit_config: { enabled: true, component: 'small' },
    metrics: { host: '127.0.0.1', port: metricsPort },
    oidc_config: {
      issuer: world.issuer.url,
      audience: RESOURCE,
      introspection_url: world.issuer.introspectionUrl,
      client_id: INTROSPECTION_CLIENT.id,
      client_secret_file: world.file('introspection', INTROSPECTION_CLIENT.secret),
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: true,
      insecure_allow_http: true,
      resource_url: RESOURCE,
      scopes: [],
    },
    header_forward: { add_headers_from_file: { 'X-Account-Key': world.file('forwarded', FORWARDED) } },
    telemetry_config: {
      service_name: 'small',
      endpoint: world.collector.url,
      headers: { authorization: `Bearer ${COLLECTOR_SECRET}` },
      insecure: false,
      metrics_enabled: true,
      tracing_enabled: true,
      sampling_rate: '1',
      use_legacy_attributes: true,
      enable_prometheus_metrics_path: false,
    },
  };
}

function withExchange(): Partial<RunConfig> {
  return {
    token_exchange_config: {
      token_url: `${world.exchange.url}/token`,
      client_id: 'proxy',
      client_secret_file: world.file('client-secret', CLIENT_SECRET),
      audience: 'server',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      header_strategy: 'replace',
    },
  };
}

function withInjection(): Partial<RunConfig> {
  return { header_injection_config: { header_name: 'X-Key', value_file: world.file('injected', INJECTED) } };
}

/** Sends valid and invalid requests. Returns the sent tokens. */
async function traffic(url: string): Promise<readonly string[]> {
  const good = await world.token({ aud: RESOURCE });
  const expired = await world.token({ aud: RESOURCE, exp: 1000 });
  const foreign = await world.token({ aud: 'somebody-else', sub: 'eve' });
  const opaque = await world.issuer.token('opaque', RESOURCE);
  const tokens = [good, expired, foreign, opaque, 'no-token-at-all'];
  for (const token of tokens) {
    const headers = { authorization: `Bearer ${token}` };
    for (const tool of ['echo', 'fail', 'break', 'none']) await callTool({ url }, tool, { text: ARGUMENT }, headers);
    await callTool({ url: `${url}?access_token=${QUERY}` }, 'echo', {}, headers);
    await send({ url }, 'tools/list', {}, { ...headers, 'mcp-session-id': 'session-of-another' });
    await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: `{"${ARGUMENT}`,
    });
    await get(url, { ...headers, accept: 'text/html' });
  }
  await callTool({ url }, 'echo', {}, { authorization: `Basic ${Buffer.from(QUERY).toString('base64')}` });
  return tokens;
}

async function printed(
  more: Partial<RunConfig>,
): Promise<{ readonly text: string; readonly tokens: readonly string[] }> {
  const metricsPort = await freePort();
  const before = world.collector.received.length;
  const program = await startProxy({ ...settings(metricsPort), ...more });
  const tokens = await traffic(program.url);
  const metrics = await get(`http://127.0.0.1:${metricsPort}/metrics`);
  await program.stop();
  const telemetry = world.collector.received.slice(before).map(({ body }) => body);
  expect(telemetry.length).toBeGreaterThan(1);
  return { text: [program.log(), metrics.text, ...telemetry].join('\n'), tokens };
}

function secretsIn({ text, tokens }: { readonly text: string; readonly tokens: readonly string[] }): string[] {
  const signatures = tokens.map((token) => token.split('.').at(-1) ?? token);
  const others = [INTROSPECTION_CLIENT.secret, CLIENT_SECRET, COLLECTOR_SECRET, INJECTED, FORWARDED, ARGUMENT, QUERY];
  const encoded = [QUERY, `proxy:${CLIENT_SECRET}`].map((each) => Buffer.from(each).toString('base64'));
  const answers = ['exchanged-for-the-server', 'session-of-the-server'];
  return [...tokens, ...signatures, ...others, ...encoded, ...answers].filter((secret) => text.includes(secret));
}

test('no secret is printed if tokens are exchanged', async () => {
  world.exchange.respond((_asked, response) =>
    sendJson(response, 200, {
      access_token: 'exchanged-for-the-server',
      token_type: 'Bearer',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      expires_in: 3600,
    }),
  );
  const seen = await printed(withExchange());
  expect(seen.text).toContain('"level":"debug"');
  expect(seen.text).toContain('"msg":"audit_event"');
  expect(secretsIn(seen)).toEqual([]);
});

test('no secret is printed if the error of a token exchange repeats sent secrets', async () => {
  world.exchange.respond(({ form, headers }, response) =>
    sendJson(response, 400, {
      error: 'invalid_grant',
      error_description: `${form.get('subject_token')} of ${headers.authorization}`,
    }),
  );
  const seen = await printed(withExchange());
  expect(seen.text).toContain('invalid_grant');
  expect(secretsIn(seen)).toEqual([]);
});

test('no secret is printed if a header is injected and the server is unreachable', async () => {
  const seen = await printed({ ...withInjection(), remote_url: `http://127.0.0.1:9/mcp?key=${QUERY}` });
  expect(seen.text).toContain('server-unreachable');
  expect(secretsIn(seen)).toEqual([]);
});
