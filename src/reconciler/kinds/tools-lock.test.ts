import { expect, test } from 'vitest';
import { heldLock } from '#contracts/tool-lock/held.ts';
import { formatLockReport, lockDigest } from '#contracts/tool-lock/report.ts';
import { backendsLockCondition, toolsLockCondition } from './tools-lock.ts';

test("long names of definitions do not make the condition's message longer than Kubernetes permits", () => {
  const metadata = { name: 'files', namespace: 'ops', annotations: { 'skep.dev/tools-lock': 'report' } };
  const drifts = Array.from({ length: 30 }, (_, index) => ({
    ...{ list: 'tools' as const, what: 'new' as const },
    name: `${index} ${'x'.repeat(4000)}`,
  }));
  const report = { lock: lockDigest(heldLock('report', undefined)), at: '', drifts };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'files-tools-report' } };
  const [condition] = toolsLockCondition(
    { kind: 'MCPServer', metadata },
    {
      find: (kind) => (kind === 'ConfigMap' ? { ...object, data: formatLockReport(report) } : undefined),
      all: () => [],
    },
  );
  expect(condition?.status).toBe('False');
  expect(condition?.message.length).toBeLessThan(32_768);
});

test('counts differences in definitions whose names are too long for the report', () => {
  const toolsLock = heldLock('enforce', undefined);
  const backends = Array.from({ length: 20 }, (_, index) => ({ name: `b${index}`, toolsLock }));
  const long = { list: 'tools' as const, name: '\u0001'.repeat(4096), what: 'new' as const };
  const reports = backends.map(({ name }, index) =>
    formatLockReport(
      { lock: lockDigest(toolsLock), at: '', drifts: index === 0 ? [long] : [] },
      { member: name, members: backends.length },
    ),
  );
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'office-vmcp-tools-report' } };
  const view = { find: () => ({ ...object, data: Object.assign({}, ...reports) }), all: () => [] };
  expect(backendsLockCondition({ name: 'office' }, backends, view)).toMatchObject([
    { status: 'False', reason: 'DefinitionsHeldBack', message: expect.stringContaining('1 with long names') },
  ]);
});

test('names the service account of the manifest, whose pods send no report', () => {
  const metadata = { name: 'files', namespace: 'ops', annotations: { 'skep.dev/tools-lock': 'report' } };
  const view = { find: () => undefined, all: () => [] };
  const expected = {
    status: 'Unknown',
    reason: 'DefinitionsNotReported',
    message: expect.stringContaining('grants no rights to ServiceAccount own'),
  };
  expect(toolsLockCondition({ kind: 'MCPRemoteProxy', metadata }, view, 'own')).toMatchObject([expected]);
  const backends = [{ name: 'files', toolsLock: heldLock('enforce', undefined) }];
  expect(backendsLockCondition({ name: 'office', account: 'own' }, backends, view)).toMatchObject([expected]);
  expect(backendsLockCondition({ name: 'office' }, backends, view)).toMatchObject([{ reason: 'DefinitionsNotRead' }]);
});
