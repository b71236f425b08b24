import { expect, it } from 'vitest';
import { followed } from './key-readings.ts';
import type { RunConfig } from './run-config.ts';
import { RUN_CONFIG_SCHEMA } from './run-config.ts';
import { keysForRestart, RUN_CONFIG_KEYS, readAtStart } from './run-config-keys.ts';

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

const { audit_config: _audit, trust_proxy_headers: _trust, ...AT_START } = CONFIG;

it('every key of the file has a reading', () => {
  expect(Object.keys(RUN_CONFIG_KEYS).toSorted()).toEqual(Object.keys(RUN_CONFIG_SCHEMA.properties).toSorted());
});

it('keys that a proxy never reads require no restart', () => {
  const other = { ...CONFIG, image: 'example.com/weather:2', group: 'tools', scaling_config: { backend_replicas: 3 } };
  expect(readAtStart(other)).toEqual(readAtStart(CONFIG));
});

it('a running proxy applies keys that are read again, and no other keys', () => {
  const next = { ...CONFIG, port: 8081, tools_filter: ['read'], image: 'example.com/weather:2' };
  expect(keysForRestart(CONFIG, next)).toEqual(['port']);
  expect(followed(RUN_CONFIG_KEYS, CONFIG, next)).toEqual({ ...CONFIG, tools_filter: ['read'] });
  expect(followed(RUN_CONFIG_KEYS, { ...CONFIG, tools_filter: ['read'] }, CONFIG)).toEqual(CONFIG);
});

it('a new size of messages requires a restart, other limits do not', () => {
  const next = { ...CONFIG, limits: { message_bytes: 2_000_000, streams: 5 } };
  expect(keysForRestart(CONFIG, next)).toEqual(['limits']);
  expect(keysForRestart(CONFIG, { ...CONFIG, limits: { streams: 5 } })).toEqual([]);
});

it('a new port and a new Redis require a restart', () => {
  const redis = { session_redis: { address: 'redis:6379', db: 0 } };
  expect(readAtStart({ ...CONFIG, port: 8081 })).toEqual({ ...AT_START, port: 8081 });
  expect(readAtStart({ ...CONFIG, scaling_config: { backend_replicas: 3, ...redis } })).toEqual({
    ...AT_START,
    scaling_config: redis,
  });
});
