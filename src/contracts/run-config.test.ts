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

it('a run configuration reads back as it was written', () => {
  const text = formatRunConfig(CONFIG);
  expect(JSON.parse(text)).toEqual(CONFIG);
  expect(text.startsWith('{\n  "schema_version": "v0.1.0",\n')).toBe(true);
});

it.each([
  { reason: 'a port that is none', wrong: { ...CONFIG, port: 0 }, told: '/port' },
  { reason: 'an empty name', wrong: { ...CONFIG, name: '' }, told: '/name' },
  { reason: 'a key that nobody reads', wrong: { ...CONFIG, colour: 'blue' }, told: '/colour' },
])('a run configuration with $reason is never written', ({ wrong, told }) => {
  expect(() => formatRunConfig(wrong)).toThrow(told);
});
