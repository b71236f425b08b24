import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { createWatchedFiles } from '../watched-files.ts';
import { openRules } from './rules.ts';

const CONFIG: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'weather',
  namespace: 'agents',
  transport: 'streamable-http',
  proxy_mode: 'streamable-http',
  host: '127.0.0.1',
  port: 8080,
  target_host: 'mcp-weather',
  target_port: 8080,
  trust_proxy_headers: false,
  audit_config: { enabled: false, component: 'weather' },
};

test('warns of two tools that are given the same name', () => {
  const records: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void records.push(JSON.parse(line)) });
  const config = { ...CONFIG, tools_override: { read: { name: 'get' }, fetch: { name: 'get' } } };
  openRules(config, createWatchedFiles(), logger);
  expect(records).toMatchObject([{ code: 'tool-override-clash', name: 'get', tools: ['fetch', 'read'] }]);
});
