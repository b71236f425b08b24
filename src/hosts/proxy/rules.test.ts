import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { createTaskIds } from '#gateway/proxy/tasks/task-ids.ts';
import { createSessionSeal } from '#gateway/wire/seal.ts';
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

test('warns of two tools with the same new name', () => {
  const records: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void records.push(JSON.parse(line)) });
  const config = { ...CONFIG, tools_override: { read: { name: 'get' }, fetch: { name: 'get' } } };
  const seal = createSessionSeal({ keys: [Buffer.alloc(32)], random: (size) => Buffer.alloc(size) });
  const tasks = createTaskIds(seal, () => 0);
  openRules(config, {
    files: createWatchedFiles(),
    logger,
    tasks,
    lock: { keeperOf: () => undefined, current: () => undefined },
  });
  expect(records).toMatchObject([{ code: 'tool-override-clash', name: 'get', tools: ['fetch', 'read'] }]);
});
