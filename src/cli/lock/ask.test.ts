import { expect, test } from 'vitest';
import { heldLock } from '#contracts/tool-lock/held.ts';
import { formatLockReport, lockDigest, type ReportedDrift } from '#contracts/tool-lock/report.ts';
import { readOffered } from './ask.ts';

const LOCK = { server: { kind: 'MCPServer' as const }, tools: [{ name: 'find' }, { name: 'read' }] };
const SERVER = { namespace: 'ops', name: 'files', server: LOCK.server, file: 'files.tools.yaml', lock: LOCK };

function clusterWith(drifts: readonly ReportedDrift[] | undefined, lock = LOCK) {
  const report = drifts && { lock: lockDigest(heldLock('enforce', lock)), at: '', drifts };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'files-tools-report' } };
  return { get: async () => report && { ...object, data: formatLockReport(report) } };
}

test('the lock with the reported differences is what the server offers', async () => {
  const offered = await readOffered(
    clusterWith([
      { list: 'tools', name: 'find', what: 'missing' },
      { list: 'tools', name: 'read', what: 'differs', definition: '{"name":"read","title":"Read"}' },
      { list: 'prompts', name: 'ask', what: 'new', definition: '{"name":"ask"}' },
    ]),
    SERVER,
  );
  expect(offered).toEqual({
    tools: [{ name: 'read', title: 'Read' }],
    prompts: [{ name: 'ask' }],
    resourceTemplates: [],
  });
});

test.each([
  ['nothing is reported', clusterWith(undefined), 'lock-not-reported'],
  ['the report is about another lock', clusterWith([], { ...LOCK, tools: [] }), 'lock-not-reported'],
  [
    'the text is not in the report',
    clusterWith([{ list: 'tools', name: 'x', what: 'new' }]),
    'lock-definition-refused',
  ],
  [
    'the text can be read in two ways',
    clusterWith([{ list: 'tools', name: 'x', what: 'unreadable', definition: '{"name":"x","a":1,"a":2}' }]),
    'lock-definition-refused',
  ],
])('%s', async (_what, cluster, code) => {
  await expect(readOffered(cluster, SERVER)).rejects.toMatchObject({ code });
});
