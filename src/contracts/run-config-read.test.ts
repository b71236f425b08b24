import { expect, it } from 'vitest';
import type { RunConfig } from './run-config.ts';
import { readRunConfig } from './run-config-read.ts';

const CONFIG: RunConfig = {
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
  ...{ issuer: 'https://id.example.com', audience: 'weather', resource_url: 'https://weather.example.com', scopes: [] },
  ...{ jwks_allow_private_ip: false, protected_resource_allow_private_ip: false, insecure_allow_http: false },
};

it('reads a file that the reconciler has written', () => {
  expect(readRunConfig(JSON.stringify(CONFIG))).toEqual({ config: CONFIG, unknown: [] });
});

it('reports keys of a newer release, and reads the other keys', () => {
  const newer = {
    ...CONFIG,
    schema_version: 'v0.2.0',
    colour: 'blue',
    audit_config: { ...CONFIG.audit_config, 'a/b': 1 },
  };
  expect(readRunConfig(JSON.stringify(newer))).toEqual({ config: CONFIG, unknown: ['/audit_config/a~1b', '/colour'] });
});

it.each([
  { reason: 'no JSON', text: '{', fault: 'is not a JSON object' },
  { reason: 'a list', text: '[]', fault: 'is not a JSON object' },
  {
    reason: 'another major version',
    text: JSON.stringify({ ...CONFIG, schema_version: 'v1.0.0' }),
    fault: 'has schema_version "v1.0.0"; this release reads v0.x',
  },
  { reason: 'no version', text: '{}', fault: 'has schema_version undefined; this release reads v0.x' },
  { reason: 'a port out of range', text: JSON.stringify({ ...CONFIG, port: 0 }), fault: '/port must be >= 1' },
  {
    reason: 'a key that is missing',
    text: JSON.stringify({ ...CONFIG, name: undefined }),
    fault: " must have required property 'name'",
  },
  {
    reason: 'a server that is nowhere',
    text: JSON.stringify({ ...CONFIG, target_host: undefined }),
    fault: '/transport is streamable-http, and neither /remote_url nor /target_host with /target_port has its address',
  },
  {
    reason: 'a resource that is not a URL',
    text: JSON.stringify({ ...CONFIG, oidc_config: { ...OIDC, resource_url: 'weather' } }),
    fault:
      '/oidc_config/resource_url must be an http or https URL without credentials and a fragment (RFC 9728), such as https://host.example.com/mcp, not "weather"',
  },
  {
    reason: 'introspection at a path',
    text: JSON.stringify({ ...CONFIG, oidc_config: { ...OIDC, introspection_url: 'keys' } }),
    fault:
      '/oidc_config/introspection_url must be an http or https URL without a user name and password, such as https://host.example.com/path, not "keys"',
  },
])('says why it cannot read a file with $reason', ({ text, fault }) => {
  expect(readRunConfig(text)).toEqual({ fault });
});
