// Tests that a deleted or overwritten report is written again, and that a report of another replica about the same lock
// stays.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { formatLockReport, readLockReport, reportName } from '#contracts/tool-lock/report.ts';
import { createLogger } from '#hosts/log.ts';
import { openReportWriter } from '#hosts/proxy/lock-report.ts';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';

const NAME = reportName('files');
const CONFIG_MAP = `/api/v1/namespaces/default/configmaps/${NAME}`;
const EMPTY = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME, namespace: 'default' } };
const DRIFTS = [{ list: 'tools' as const, name: 'read', what: 'differs' as const }];

let cluster: TestCluster;
let writer: ReturnType<typeof openReportWriter>;

beforeAll(async () => {
  cluster = await startTestCluster();
  vi.stubEnv('KUBECONFIG', cluster.kubeconfigPath);
  const environment = { KUBECONFIG: cluster.kubeconfigPath };
  const logger = createLogger('error', { write: () => undefined });
  writer = openReportWriter({ environment, logger, lookMs: 50 }, () => ({
    ...{ name: NAME, namespace: 'default' },
    data: formatLockReport({ lock: 'now', at: '2026-11-30T00:00:00Z', drifts: DRIFTS }),
  }));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await writer.stop();
  await cluster.stop();
});

const reportNow = async () => readLockReport((await cluster.send('GET', CONFIG_MAP)).body.data);

async function overwrite(lock: string): Promise<void> {
  const data = formatLockReport({ lock, at: '2026-11-30T00:00:01Z', drifts: [] });
  const contentType = 'application/merge-patch+json';
  expect((await cluster.send('PATCH', CONFIG_MAP, { body: { data }, contentType })).status).toBe(200);
}

const gets = () => Number(cluster.cluster.counters().requests.get?.configmaps ?? 0);

test('a report that is deleted or overwritten for another lock is written again', async () => {
  await cluster.apply(CONFIG_MAP, EMPTY);
  writer.request();
  await expect.poll(reportNow, { timeout: 10_000 }).toMatchObject({ lock: 'now', drifts: DRIFTS });

  await overwrite('now');
  const before = gets();
  // Two reads of the writer, and one read of the test.
  await expect.poll(gets).toBeGreaterThan(before + 2);
  expect(await reportNow()).toMatchObject({ lock: 'now', drifts: [] });

  await overwrite('an earlier one');
  await expect.poll(reportNow, { timeout: 20_000 }).toMatchObject({ lock: 'now', drifts: DRIFTS });

  expect((await cluster.send('DELETE', CONFIG_MAP)).status).toBe(200);
  await cluster.apply(CONFIG_MAP, EMPTY);
  await expect.poll(reportNow, { timeout: 20_000 }).toMatchObject({ lock: 'now', drifts: DRIFTS });
}, 60_000);
