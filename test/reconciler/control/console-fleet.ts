// A fleet with something of everything, with one resource in full and the runs before.

import type { Runs } from '#reconciler/control/ports.ts';
import { jsonOfHistory, jsonOfRecord } from '#reconciler/report/history.ts';
import type { FleetState } from '#reconciler/run/fleet-state/format.ts';
import { findRun } from '#reconciler/run/history/find.ts';
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { failedRecord } from '#reconciler/run/history/record.ts';
import { Failure } from '#std/failure.ts';
import { entryOf, RUN, stateOf } from './console-app.ts';
import { WIKI_EVENTS, WIKI_OFFER } from './console-pods.ts';

export const EVIL = '<img src=x onerror="alert(1)">';
export const WIKI = 'docs/MCPServer/wiki';

const [DOCS, OPS] = ['docs/MCPGroup/docs', 'ops/MCPGroup/ops'];
const CATALOGUE = 'platform/MCPRegistry/catalogue';

export function smallFleet(): FleetState {
  const server = (name: string, namespace: string, more: object = {}) =>
    entryOf('server', 'MCPServer', { name, namespace, objects: 7, ...more });
  return stateOf([
    entryOf('source', 'Source', { name: 'fleet', why: 'Read at 9c1d0c5ad1.' }),
    entryOf('source', 'Source', { name: 'platform', why: 'Read at 41be9e2f07.' }),
    entryOf('group', 'MCPGroup', { name: 'docs', namespace: 'docs' }),
    entryOf('group', 'MCPGroup', { name: 'ops', namespace: 'ops' }),
    server('wiki', 'docs', {
      state: 'drifted',
      uses: [DOCS, CATALOGUE],
      why: 'kubectl-edit has set /spec/replicas of docs/Deployment/wiki',
    }),
    server('search', 'docs', { uses: [DOCS, CATALOGUE] }),
    server('handbook', 'docs', { uses: [DOCS] }),
    server('translate', 'docs', { state: 'progressing', uses: [DOCS], why: '1 of 2 pods have its current template' }),
    server('pager', 'ops', {
      state: 'failed',
      uses: [OPS],
      why: 'pod pager-0: ImagePullBackOff: manifest for registry.example.com/pager:2.1 not found',
    }),
    server('deploys', 'ops', { uses: [OPS] }),
    server('calendar', 'ops', {
      state: 'kept',
      uses: [OPS],
      why: '/spec/transport must be stdio, sse or streamable-http (ops/calendar.yaml:12)',
    }),
    server('metrics', 'ops', { state: 'sleeping', uses: [OPS], why: 'Someone has scaled it to zero.' }),
    entryOf('server', 'MCPRemoteProxy', { name: 'tickets', namespace: 'ops', uses: [OPS, CATALOGUE], objects: 4 }),
    entryOf('virtual-server', 'VirtualMCPServer', {
      name: 'desk',
      namespace: 'docs',
      uses: [DOCS, CATALOGUE],
      objects: 6,
    }),
    entryOf('virtual-server', 'VirtualMCPServer', {
      name: 'on-call',
      namespace: 'ops',
      uses: [OPS],
      state: 'degraded',
      why: '3 of 5 members answer: pager, calendar do not',
      objects: 6,
    }),
    entryOf('registry', 'MCPRegistry', { name: 'catalogue', namespace: 'platform', source: 'platform', objects: 5 }),
    entryOf('settings', 'MCPOIDCConfig', { name: 'company', namespace: 'docs', source: 'platform' }),
  ]);
}

export function wikiDetail(): object {
  const object = (id: string, more: object = {}) => ({
    id: `docs/${id}`,
    state: 'ready',
    why: '',
    differences: [],
    fields: [],
    ...more,
  });
  return {
    version: 1,
    resource: WIKI,
    apiVersion: 'toolhive.stacklok.dev/v1beta1',
    source: 'fleet',
    commit: '9c1d0c5ad19c1d0c5ad19c1d0c5ad19c1d0c5ad1',
    commitUrl: 'https://git.example.com/platform/fleet/commit/9c1d0c5ad1',
    file: 'docs/wiki.yaml',
    line: 4,
    manifest: `apiVersion: toolhive.stacklok.dev/v1beta1\nkind: MCPServer\nmetadata:\n  name: wiki\n  namespace: docs\nspec:\n  image: registry.example.com/wiki:3.2.0\n  transport: streamable-http\n  description: ${EVIL}\n`,
    problems: [
      {
        code: 'field-kept',
        severity: 'warning',
        message: 'kubectl-edit has set /spec/replicas to 3, and Git declares 2.',
        file: 'docs/wiki.yaml',
        line: 12,
      },
    ],
    changes: [
      { action: 'configured', resource: WIKI },
      {
        action: 'failed',
        resource: 'docs/NetworkPolicy/wiki',
        error: { code: 'cluster-forbidden', message: `networkpolicies is forbidden ${EVIL}` },
      },
    ],
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Ready', message: 'The server answers.', since: '2026-01-01T00:00:00Z' },
      { type: 'ToolsLocked', status: 'True', reason: 'AsReviewed', message: EVIL, since: '2026-01-01T00:00:00Z' },
    ],
    objects: [
      object('MCPServer/wiki'),
      object('Deployment/wiki', {
        state: 'not-ready',
        why: '2 of 3 pods are ready',
        differences: [
          { path: '/spec/replicas', before: 3, after: 2 },
          {
            path: '/spec/template/spec/containers/[name=proxy]/image',
            before: 'registry.example.com/skep:0.0.9',
            after: EVIL,
          },
        ],
        fields: [{ path: '/spec/replicas', manager: 'kubectl-edit', state: 'kept' }],
        pods: [
          { name: 'wiki-6d9c-2xk', ready: true, phase: 'Running', restarts: 0, why: '' },
          { name: 'wiki-6d9c-9qz', ready: true, phase: 'Running', restarts: 3, why: '' },
          {
            name: 'wiki-6d9c-w7p',
            ready: false,
            phase: 'Pending',
            restarts: 0,
            why: 'ImagePullBackOff: no such image',
          },
        ],
      }),
      object('Service/wiki'),
      object('Secret/wiki-key', { differences: [{ path: '/data/key', before: '*** (before)', after: '*** (after)' }] }),
      object('ConfigMap/wiki-config'),
      object('NetworkPolicy/wiki', { state: 'missing', why: 'It is not in the cluster.' }),
    ],
    omitted: 0,
    events: WIKI_EVENTS,
    offer: WIKI_OFFER,
    fileUrl: 'https://git.example.com/platform/fleet/blob/9c1d0c5ad1/docs/wiki.yaml#L4',
  };
}

const EMPTY = failedRecord({ id: '', startedAt: ago(3), finishedAt: ago(1) }, new Failure('x', 'y'));

function ago(seconds: number): string {
  return new Date(Date.now() - seconds * 1000).toISOString();
}

const COMMITS = { fleet: '9c1d0c5ad19c1d0c5ad19c1d0c5ad19c1d0c5ad1' };

export const WAITING: RunRecord = {
  ...EMPTY,
  id: RUN,
  startedAt: ago(44),
  finishedAt: ago(41.5),
  state: 'waiting',
  commits: COMMITS,
  failures: [],
  summary: { ...EMPTY.summary, created: 1, configured: 2, held: 2 },
  outcomes: [
    {
      action: 'configured',
      resource: WIKI,
      diff: [
        { path: '/spec/image', before: 'wiki:1.0.0', after: EVIL },
        { path: '/data/config.json', long: true },
      ],
    },
    {
      action: 'configured',
      resource: 'docs/Deployment/wiki',
      owner: WIKI,
      diff: [{ path: '/spec/replicas', before: 1, after: 2 }],
    },
    { action: 'created', resource: 'docs/ConfigMap/wiki-config', owner: WIKI },
  ],
  held: [
    { resource: 'ops/MCPServer/news', reason: 'its deletion waits for approval' },
    { resource: 'ops/MCPServer/mail', reason: 'it is invalid' },
  ],
  approvals: [
    {
      source: 'fleet',
      hash: '3f1c0b5e9a7d2468',
      reasons: ['1 deletion, more than apply.maxDeletes allows (0)'],
      deletions: ['ops/MCPServer/news'],
    },
  ],
  pinned: [{ source: 'fleet', good: '41be9e2f0741be9e2f07', bad: '77be9e2f0741be9e2f07' }],
};

export const FAILED: RunRecord = {
  ...EMPTY,
  id: '5a3f3d10-7f1e-4b86-9d0e-000000000001',
  startedAt: ago(700),
  finishedAt: ago(690),
  failures: [{ code: 'git-unreachable', message: 'no answer' }],
};

const SUCCEEDED: RunRecord = {
  ...EMPTY,
  id: '77aa3d10-7f1e-4b86-9d0e-000000000003',
  startedAt: ago(4000),
  finishedAt: ago(3998.8),
  state: 'succeeded',
  commits: { fleet: '41be9e2f0741be9e2f0741be9e2f0741be9e2f07' },
  failures: [],
  summary: { ...EMPTY.summary, created: 14 },
};

export function recordedRuns(records: readonly RunRecord[] = [WAITING, FAILED, SUCCEEDED]): Runs {
  return {
    list: async () => jsonOfHistory(records),
    find: async (start) => jsonOfRecord(findRun(records, start)),
  };
}
