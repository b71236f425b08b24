import { expect, test } from 'vitest';
import { heldLock } from '#contracts/tool-lock/held.ts';
import { formatLockReport, lockDigest, type ReportedDrift } from '#contracts/tool-lock/report.ts';
import { readDigest, readOffered } from './ask.ts';

const LOCK = { server: { kind: 'MCPServer' as const }, tools: [{ name: 'find' }, { name: 'read' }] };
const SERVER = { namespace: 'ops', name: 'files', server: LOCK.server, file: 'files.tools.yaml', lock: LOCK };

function clusterWith(drifts: readonly ReportedDrift[] | undefined, lock = LOCK) {
  const report = drifts && { lock: lockDigest(heldLock('enforce', lock)), at: '', drifts };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'files-tools-report' } };
  return { get: async () => report && { ...object, data: formatLockReport(report) }, list: async () => [] };
}

test('the definitions of a server are the lock with the reported differences', async () => {
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
  [
    'the only name is too long for the report',
    clusterWith([{ list: 'tools', name: '\u0001'.repeat(60_000), what: 'new' }]),
    'lock-not-reported',
  ],
  ['the report is about another lock', clusterWith([], { ...LOCK, tools: [] }), 'lock-not-reported'],
  [
    'the text is not in the report',
    clusterWith([{ list: 'tools', name: 'x', what: 'new' }]),
    'lock-definition-refused',
  ],
  [
    'the text of a definition is ambiguous',
    clusterWith([{ list: 'tools', name: 'x', what: 'unreadable', definition: '{"name":"x","a":1,"a":2}' }]),
    'lock-definition-refused',
  ],
])('%s', async (_what, cluster, code) => {
  await expect(readOffered(cluster, SERVER)).rejects.toMatchObject({ code });
});

test('for an MCPServerEntry, the latest report of a virtual server in its namespace about its lock is used', async () => {
  const report = (at: string, lock: typeof LOCK, title: string) => ({
    lock: lockDigest(heldLock('enforce', lock)),
    at,
    drifts: [
      {
        list: 'tools' as const,
        name: 'read',
        what: 'differs' as const,
        definition: `{"name":"read","title":"${title}"}`,
      },
    ],
  });
  const configMap = (name: string, member: string, ...given: Parameters<typeof report>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: formatLockReport(report(...given), { member }),
  });
  const list = async () => [
    configMap('other-tools-report', 'files', '2026-05', LOCK, 'of something else'),
    configMap('one-vmcp-tools-report', 'files', '2026-01', LOCK, 'early'),
    configMap('two-vmcp-tools-report', 'files', '2026-02', LOCK, 'late'),
    configMap('three-vmcp-tools-report', 'files', '2026-03', { ...LOCK, tools: [] }, 'of another lock'),
    configMap('four-vmcp-tools-report', 'notes', '2026-04', LOCK, 'of another member'),
  ];
  const server = { ...SERVER, server: { kind: 'MCPServerEntry' as const } };
  const offered = await readOffered({ get: async () => undefined, list }, server);
  expect(offered.tools).toEqual([{ name: 'find' }, { name: 'read', title: 'late' }]);
});

test('the digest comes from the manifest, or else from the pinned image of the server', async () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const clusterOf = (image: string) => ({
    get: async () => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'files' },
      spec: { template: { spec: { containers: [{ name: 'mcp', image }] } } },
    }),
  });
  const digestOf = (live: string, server: object) =>
    readDigest(clusterOf(live), { ...SERVER, server: { kind: 'MCPServer', ...server } });
  expect(await digestOf(`files:1@${digest}`, { image: 'files:1' })).toBe(digest);
  expect(await digestOf('files:1', { image: 'files:1' })).toBeUndefined();
  expect(await digestOf(`files:2@${digest}`, { image: 'files:1' })).toBeUndefined();
  expect(await digestOf('files:1', { image: `files:1@${digest}`, digest })).toBe(digest);
});
