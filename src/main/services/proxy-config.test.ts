import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Failure } from '../../std/failure.ts';
import { readPolicies, readProxyConfig } from './proxy-config.ts';
import { createWatchedFiles } from './watched-files.ts';

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

test.each([
  { reason: 'text that is no JSON', text: '{', says: 'is not a JSON object' },
  { reason: 'a port out of range', text: JSON.stringify({ ...CONFIG, port: 0 }), says: '/port must be >= 1' },
  {
    reason: 'an issuer without TLS',
    text: JSON.stringify({ ...CONFIG, oidc_config: OIDC }),
    says: '/oidc_config/issuer is http://login.example.com, which is not https',
  },
])('refuses a configuration with $reason and names file and key', ({ text, says }) => {
  const file = fileWith(text);
  const failure = failureOf(() => readProxyConfig(createWatchedFiles(), file));
  expect(failure.code).toBe('proxy-config-invalid');
  expect(failure.message).toContain(`${file} ${says}`);
});

test.each([
  { reason: 'text that is no JSON', text: '[', says: 'the file must be object' },
  {
    reason: 'a policy that is no Cedar',
    text: JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies: ['permit(principal'] } }),
    says: 'policy 1, line 1',
  },
  {
    reason: 'entities that are no list',
    text: JSON.stringify({
      version: '1.0',
      type: 'cedarv1',
      cedar: { policies: ['permit(principal, action, resource);'], entities_json: '{}' },
    }),
    says: 'list of entities',
  },
])('refuses policies with $reason and says where', ({ text, says }) => {
  const failure = failureOf(() => readPolicies(createWatchedFiles(), fileWith(text)));
  expect(failure.code).toBe('policy-file-invalid');
  expect(failure.message).toContain(says);
});
