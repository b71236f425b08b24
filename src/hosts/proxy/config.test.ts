import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type HeldLock, heldLock } from '#contracts/tool-lock/held.ts';
import { splitLock } from '#contracts/tool-lock/shards.ts';
import { Failure } from '#std/failure.ts';
import { createWatchedFiles } from '../watched-files.ts';
import { followConfig, readPolicies, readProxyConfig } from './config.ts';

const CONFIG = {
  schema_version: 'v0.1.0',
  name: 'weather',
  namespace: 'agents',
  transport: 'streamable-http',
  proxy_mode: 'streamable-http',
  host: '0.0.0.0',
  port: 8080,
  target_host: 'mcp-weather',
  target_port: 8080,
  trust_proxy_headers: false,
  audit_config: { enabled: false, component: 'weather' },
};

const OIDC = {
  issuer: 'http://login.example.com',
  jwks_allow_private_ip: false,
  protected_resource_allow_private_ip: false,
  insecure_allow_http: false,
  resource_url: 'https://weather.example.com/mcp',
  scopes: [],
};

const TELEMETRY = {
  ...{ service_name: 'weather', insecure: false, metrics_enabled: true, tracing_enabled: false, sampling_rate: '0.1' },
  ...{ use_legacy_attributes: false, enable_prometheus_metrics_path: false },
};

function fileWith(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'skep-')), 'file.json');
  writeFileSync(file, text);
  return file;
}

function failureOf(task: () => unknown): Failure {
  try {
    task();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

test('a lock in several files is used as a whole or not at all', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skep-'));
  const file = join(folder, 'file.json');
  const tools = (count: number, title: string) =>
    Array.from({ length: count }, (_, index) => ({ name: `${'n'.repeat(100)}${index}`, title }));
  const held = (count: number, title: string) =>
    heldLock('enforce', { server: { kind: 'MCPServer' }, tools: tools(count, title), prompts: [] });
  const write = (lock: HeldLock, isWritten = (_index: number) => true) => {
    const split = splitLock('weather', lock);
    const parts = split.lock.parts?.map((part, index) => ({ ...part, path: join(folder, `${index}.json`) }));
    split.shards.forEach(({ text }, index) => {
      if (isWritten(index)) writeFileSync(join(folder, `${index}.json`), text);
    });
    writeFileSync(file, JSON.stringify({ ...CONFIG, tools_lock: { ...split.lock, parts } }));
    return split.shards.length;
  };
  const read = (path: string) => readFileSync(path, 'utf8');
  const files = { read, readSettings: (path: string) => (existsSync(path) ? read(path) : refuse(path)) };
  const before = held(12_000, 'before');
  // One part is missing at the start.
  expect(write(before, (index) => index > 0)).toBeGreaterThan(1);
  expect(() => readProxyConfig(files, file)).toThrow(Failure);
  write(before);
  const { config } = readProxyConfig(files, file);
  expect(config.tools_lock).toEqual(before);
  const follow = followConfig(files, file, config);
  // Parts of another lock arrive one after the other, before the configuration that names them.
  const after = held(13_000, 'after');
  write(after, () => false);
  expect(failureOf(follow).message).toContain('is a part of another lock');
  write(after, (index) => index === 0);
  expect(failureOf(follow).message).toContain('is a part of another lock');
  write(after);
  expect(follow().tools_lock).toEqual(after);
  // A smaller lock is in the configuration itself. The parts of the earlier lock are deleted later.
  const small = held(10, 'small');
  expect(write(small)).toBe(0);
  expect(follow().tools_lock).toEqual(small);
  rmSync(join(folder, '0.json'));
  expect(follow().tools_lock).toEqual(small);
});

function refuse(path: string): never {
  throw new Failure('secret-file-unreadable', path);
}

test.each([
  { reason: 'text that is not JSON', text: '{', says: 'is not a JSON object' },
  { reason: 'a port out of range', text: JSON.stringify({ ...CONFIG, port: 0 }), says: '/port must be >= 1' },
  {
    reason: 'an issuer without TLS',
    text: JSON.stringify({ ...CONFIG, oidc_config: OIDC }),
    says: '/oidc_config/issuer is http://login.example.com, which is not https',
  },
  {
    reason: 'a resource that is not a URL',
    text: JSON.stringify({ ...CONFIG, oidc_config: { ...OIDC, issuer: 'https://a', resource_url: 'weather' } }),
    says: '/oidc_config/resource_url must be an http or https URL',
  },
  {
    reason: 'a collector that is not a URL',
    text: JSON.stringify({ ...CONFIG, telemetry_config: { ...TELEMETRY, endpoint: '::bad::' } }),
    says: '/telemetry_config/endpoint must be host:port',
  },
])('refuses a configuration with $reason and names file and key', ({ text, says }) => {
  const file = fileWith(text);
  const failure = failureOf(() => readProxyConfig(createWatchedFiles(), file));
  expect(failure.code).toBe('proxy-config-invalid');
  expect(failure.message).toContain(`${file} ${says}`);
});

test('a resource in a changed file that is not a URL leaves the last valid settings in force', () => {
  const good = { ...CONFIG, oidc_config: { ...OIDC, issuer: 'https://a' } };
  const file = fileWith(JSON.stringify(good));
  // The proxy would not read the file again within a second, so the test reads the file without a cache.
  const read = (path: string) => readFileSync(path, 'utf8');
  const files = { read, readSettings: read };
  const { config } = readProxyConfig(files, file);
  const follow = followConfig(files, file, config);
  writeFileSync(file, JSON.stringify({ ...good, oidc_config: { ...good.oidc_config, resource_url: 'weather' } }));
  expect(failureOf(follow).message).toContain('/oidc_config/resource_url must be an http or https URL');
  writeFileSync(file, JSON.stringify({ ...good, name: 'climate' }));
  expect(follow()).toMatchObject({ name: 'climate' });
});

test.each([
  { reason: 'text that is not JSON', text: '[', says: 'the file must be object' },
  {
    reason: 'a policy that is not Cedar',
    text: JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies: ['permit(principal'] } }),
    says: 'policy 1, line 1',
  },
  {
    reason: 'a field that nothing reads',
    text: JSON.stringify({
      version: '1.0',
      type: 'cedarv1',
      cedar: { policies: ['permit(principal, action, resource);'], groupClaimName: 'teams' },
    }),
    says: '/cedar/groupClaimName',
  },
  {
    reason: 'entities that are not a list',
    text: JSON.stringify({
      version: '1.0',
      type: 'cedarv1',
      cedar: { policies: ['permit(principal, action, resource);'], entities_json: '{}' },
    }),
    says: 'list of entities',
  },
])('refuses policies with $reason and names the place', ({ text, says }) => {
  const failure = failureOf(() => readPolicies(createWatchedFiles(), { authz_config_path: fileWith(text) }));
  expect(failure.code).toBe('policy-file-invalid');
  expect(failure.message).toContain(says);
});
