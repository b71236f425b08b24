// Callers in front of a server that sleeps: callers who are refused start nothing, and callers who leave are forgotten.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../harness/cluster.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { type Mode, openSleepWorld, type Sleeper, type SleepWorld } from './sleep-world.ts';
import { get } from './world.ts';

const RESOURCE = 'https://mcp.example/mcp';
const ADA = 'principal == Client::"ada"';
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

let world: SleepWorld;
let issuer: Issuer;
const folder = mkdtempSync(join(tmpdir(), 'sleep-callers-'));

beforeAll(async () => {
  world = await openSleepWorld();
  issuer = await startIssuer();
});

afterAll(async () => {
  await world.stop();
  await issuer.close();
  rmSync(folder, { recursive: true });
});

const METRICS = {
  ...{ service_name: 'test', insecure: true, metrics_enabled: false, tracing_enabled: false },
  ...{ sampling_rate: '0', use_legacy_attributes: false },
};

/** Starts a proxy with these policies before a server that sleeps. */
function startGuarded(name: string, mode: Mode, policies: readonly string[]): Promise<Sleeper> {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies, entities_json: '[]' } }));
  const config = {
    authz_config_path: file,
    telemetry_config: { ...METRICS, enable_prometheus_metrics_path: true },
    oidc_config: {
      issuer: issuer.url,
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: true,
      insecure_allow_http: true,
      resource_url: RESOURCE,
      scopes: ['openid'],
    },
  };
  return world.start(name, mode, { pods: 0, afterSeconds: 60, config });
}

async function bearer(sub: string, more: object = {}): Promise<{ readonly authorization: string }> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  return { authorization: `Bearer ${await issuer.sign({ iss: issuer.url, aud: RESOURCE, sub, exp, ...more })}` };
}

function send(
  { proxy }: Sleeper,
  method: string,
  params: object,
  headers: object,
  more: RequestInit = {},
): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return fetch(proxy.url, { method: 'POST', headers: { ...HEADERS, ...headers }, body, ...more });
}

const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

test('callers without a valid token, and calls that the policies refuse, start nothing', async () => {
  const sleeper = await startGuarded('guarded', 'http', [`permit(${ADA}, action, resource);`]);
  const expired = await bearer('ada', { exp: 1 });
  const foreign = await bearer('ada', { aud: 'https://other.example/mcp' });
  for (const headers of [{}, { authorization: 'Bearer a.b.c' }, expired, foreign]) {
    for (const method of ['initialize', 'tools/list', 'tools/call', 'ping', 'server/discover'])
      expect((await send(sleeper, method, { ...INITIALIZE, name: 'whoami' }, headers)).status).toBe(401);
    for (const method of ['GET', 'DELETE']) {
      const answer = await fetch(sleeper.proxy.url, { method, headers: { ...HEADERS, ...headers } });
      expect(answer.status).toBe(401);
    }
  }
  const bob = await bearer('bob');
  expect((await send(sleeper, 'tools/call', { name: 'whoami' }, bob)).status).toBe(403);
  expect((await send(sleeper, 'tools/call', { name: 'whoami' }, { ...bob, 'mcp-session-id': 'former' })).status).toBe(
    404,
  );
  for (const body of ['', '{', '[]', '{"jsonrpc":"2.0"}'])
    await fetch(sleeper.proxy.url, { method: 'POST', headers: { ...HEADERS, ...(await bearer('ada')) }, body });
  expect(await sleeper.declared()).toBe(0);
});

test('a caller who leaves while a policy waits for the list is forgotten', async () => {
  const policy = `permit(${ADA}, action == Action::"call_tool", resource) when { resource.readOnlyHint == true };`;
  const sleeper = await startGuarded('listing', 'stdio', [policy]);
  const waits = async (): Promise<string> => (await get(`${sleeper.proxy.origin}/metrics`)).text;
  writeFileSync(`${sleeper.file}.broken`, '');
  const leaving = new AbortController();
  const call = send(sleeper, 'tools/call', { name: 'whoami' }, await bearer('ada'), { signal: leaving.signal });
  await eventually(
    () => sleeper.declared(),
    (count) => count === 1,
  );
  leaving.abort();
  await expect(call).rejects.toThrow();
  await eventually(waits, (text) => /skep_proxy_start_wait_seconds_count\{[^}]*client[^}]*\} 1/.test(text));
});
