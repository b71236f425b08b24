// Tests that a proxy reports no differences after its lock was removed, not even for a late response.

import { expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { type HeldLock, heldLock } from '#contracts/tool-lock/held.ts';
import { createLogger } from '#hosts/log.ts';
import { openProxyLock } from '#hosts/proxy/tools-lock.ts';

const LOCK = heldLock('enforce', { server: { kind: 'MCPServer' }, tools: [{ name: 'read' }] });
const CONFIG: RunConfig = {
  ...{ schema_version: 'v0.1.0', name: 'files', namespace: 'ops', host: '127.0.0.1', port: 8080 },
  ...{ transport: 'streamable-http', proxy_mode: 'streamable-http', target_host: '127.0.0.1', target_port: 8081 },
  trust_proxy_headers: false,
  audit_config: { enabled: false, component: 'files' },
};

test('without its lock, no difference is counted or reported', () => {
  const counts = new Map<string, number>();
  const reports: (readonly [reportTo: string | undefined, names: readonly string[]])[] = [];
  const opened = openProxyLock({
    logger: createLogger('error', { write: () => undefined }),
    metrics: { drifted: (list, count) => void counts.set(list, count) },
    recorder: { write: () => undefined },
    changed: ({ tools_lock: lock }, drifts) =>
      void reports.push([lock?.report_to, drifts.all().map(({ name }) => name)]),
  });
  const configWith = (lock: HeldLock | undefined) => ({ ...CONFIG, tools_lock: lock });
  const keeper = opened.keeperOf(configWith({ ...LOCK, report_to: 'files-tools-report' }));
  keeper?.decide('tools', 'send', Buffer.from('{"name":"send"}'));
  expect(counts.get('tools')).toBe(1);
  expect(reports.at(-1)).toEqual(['files-tools-report', ['send']]);

  expect(opened.keeperOf(configWith(undefined))).toBeUndefined();
  expect(counts.get('tools')).toBe(0);
  expect(reports.at(-1)).toEqual([undefined, []]);

  const before = reports.length;
  keeper?.decide('tools', 'post', Buffer.from('{"name":"post"}'));
  expect([counts.get('tools'), reports.length]).toEqual([0, before]);

  expect(opened.keeperOf(configWith(LOCK))).not.toBe(keeper);
});
