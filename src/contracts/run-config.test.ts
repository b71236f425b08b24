import { expect, it } from 'vitest';
import { formatRunConfig, type RunConfig } from './run-config.ts';

const CONFIG: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'weather',
  namespace: 'agents',
  image: 'example.com/weather:1',
  env_vars: { MCP_TRANSPORT: 'stdio' },
  transport: 'stdio',
  proxy_mode: 'streamable-http',
  host: '0.0.0.0',
  port: 8080,
  attach: { namespace: 'agents', pod: 'weather-0', container: 'mcp' },
  trust_proxy_headers: false,
  audit_config: { enabled: false, component: 'weather' },
};

it('a formatted run configuration is read without a change', () => {
  const text = formatRunConfig(CONFIG);
  expect(JSON.parse(text)).toEqual(CONFIG);
  expect(text.startsWith('{\n  "schema_version": "v0.1.0",\n')).toBe(true);
});

it('a run configuration of a remote server contains a URL in place of an image', () => {
  const { image: _image, env_vars: _env, attach: _attach, ...common } = CONFIG;
  const remote: RunConfig = {
    ...common,
    transport: 'streamable-http',
    remote_url: 'https://mcp.example.com/mcp',
    header_forward: { add_headers_from_secret: { 'X-Key': 'HEADER_FORWARD_X_KEY_WEATHER' } },
  };
  expect(JSON.parse(formatRunConfig(remote))).toEqual(remote);
});

it.each([
  { reason: 'an invalid port', wrong: { ...CONFIG, port: 0 }, reported: '/port' },
  { reason: 'an empty name', wrong: { ...CONFIG, name: '' }, reported: '/name' },
  { reason: 'an unknown key of the file', wrong: { ...CONFIG, colour: 'blue' }, reported: '/colour' },
])('a run configuration with $reason is never written', ({ wrong, reported }) => {
  expect(() => formatRunConfig(wrong)).toThrow(reported);
});
