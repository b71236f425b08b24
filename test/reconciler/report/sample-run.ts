// A run's result with one of everything that a report can tell.

import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';

function id(kind: string, name: string, apiVersion = 'toolhive.stacklok.dev/v1alpha1'): ResourceId {
  return { apiVersion, kind, namespace: 'docs', name };
}

function object(resource: ResourceId) {
  const { apiVersion, kind, namespace = '', name } = resource;
  return { apiVersion, kind, metadata: { namespace, name } };
}

const SERVER = id('MCPServer', 'wiki');
const CONFIG = id('ConfigMap', 'wiki-runconfig', 'v1');
const PROXY = id('Deployment', 'wiki', 'apps/v1');
const OLD = id('MCPServer', 'mail');
const DATES = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:01.500Z' };

export function sampleRun(): RunResult {
  return {
    id: '7d1f4c0e-0000-4000-8000-000000000000',
    commits: { fleet: '0123456789abcdef0123456789abcdef01234567' },
    ...DATES,
    quarantined: [{ source: 'tools', good: 'a1', bad: 'b2', older: ['c3'], run: 'run-6', since: DATES.startedAt }],
    waits: [{ source: 'apps', for: 'tools', reason: 'docs/MCPServer/wiki is not ready', passes: true }],
    plan: {
      batches: [
        {
          name: 'apply ConfigMap',
          changes: [
            {
              action: 'update',
              resource: CONFIG,
              key: 'config',
              object: object(CONFIG),
              uid: 'u1',
              diff: [
                { path: '/data/LEVEL', before: 'info', after: '```debug``` @everyone' },
                { path: '/data/notes', before: 'one\ntwo\n', after: 'one\nthree\n' },
                { path: '/data/OLD', before: 'x' },
              ],
            },
          ],
        },
        {
          name: 'apply MCPServer',
          changes: [
            {
              action: 'create',
              resource: SERVER,
              key: 'server',
              object: object(SERVER),
              preview: { result: 'refused', code: 'cluster-invalid', message: 'denied by *policy* "sizes"' },
              diff: [],
            },
          ],
        },
        {
          name: 'apply Deployment',
          changes: [
            {
              action: 'update',
              resource: PROXY,
              key: 'proxy',
              object: object(PROXY),
              uid: 'u4',
              replaces: true,
              preview: { result: 'skipped', reason: 'their Namespace does not exist yet' },
              diff: [{ path: '/spec/selector', before: 'a', after: 'b' }],
            },
          ],
        },
        {
          name: 'delete MCPServer',
          changes: [
            { action: 'delete', resource: OLD, key: 'old', source: 'fleet', uid: 'u2', referrers: [], diff: [] },
          ],
        },
      ],
      unchanged: [id('MCPGroup', 'docs')],
      held: [{ resource: id('MCPServer', 'files'), reason: 'its manifest, or one that it depends on, is invalid' }],
      waiting: [
        {
          source: 'fleet',
          hash: '0123456789abcdef',
          reasons: ['21 deletions, more than apply.maxDeletes allows (20)'],
          deletions: [
            { id: 'Namespace/old', kind: 'Namespace', uid: 'u6', takes: ['old/ConfigMap/theirs'] },
            { id: 'docs/MCPServer/almanac', kind: 'MCPServer', uid: 'u3' },
            { id: 'docs/Service/almanac', kind: 'Service', uid: 'u5', replaced: true },
          ],
        },
      ],
      approved: [],
      within: [],
    },
    impact: {
      endpoints: [
        {
          resource: SERVER,
          action: 'changes',
          url: 'http://mcp-docs-proxy.docs.svc.cluster.local:8080/mcp',
          transport: { before: 'sse', after: 'streamable-http' },
          auth: {
            before: { type: 'oidc', issuer: 'https://login.example.com', audience: 'docs' },
            after: { type: 'oidc', issuer: 'https://login.example.com', audience: 'pages' },
            refusesToday: true,
          },
          optimizer: 'on',
          tools: {
            appear: ['write_page'],
            disappear: ['edit_page', 'find|replace'],
            renamed: [{ before: 'search', after: 'find' }],
            clashes: [],
            uncertain: false,
          },
        },
      ],
      registries: [
        {
          resource: id('MCPRegistry', 'catalogue'),
          source: 'all',
          action: 'changes',
          appear: [],
          disappear: [],
          renamed: [],
          unknown: ['filter'],
        },
      ],
      definitions: [{ resource: SERVER, list: 'tools', changed: ['find'], added: ['send'], removed: [] }],
      restarts: [{ resource: { ...id('Deployment', 'docs'), apiVersion: 'apps/v1' }, owner: SERVER }],
    },
    explanations: [
      {
        resource: OLD,
        what: 'deleted',
        because: ['no source declares it any more', 'the deletions are within the limits'],
      },
      {
        resource: CONFIG,
        what: 'updated',
        because: ['these differ: /data/LEVEL'],
        declared: { source: 'fleet', place: { file: 'fleet/wiki.yaml', line: 1, column: 1 } },
        owner: SERVER,
      },
    ],
    outcomes: [
      { action: 'created', resource: SERVER },
      { action: 'failed', resource: CONFIG, error: { code: 'cluster-conflict', message: 'somebody was faster' } },
    ],
    problems: [
      {
        code: 'schema-enum',
        severity: 'error',
        message: 'spec.transport must be one of "stdio", "streamable-http", "sse".',
        place: { file: 'fleet/files.yaml', line: 6, column: 14 },
        pointer: '/spec/transport',
        resource: id('MCPServer', 'files'),
      },
    ],
    fields: [
      { resource: SERVER, path: '/spec/replicas', pointer: '/spec/replicas', manager: 'autoscaler', state: 'left' },
    ],
    failures: [new Failure('git-unreachable', 'https://git.example.com/tools.git: no answer')],
    warnings: [new Failure('event-not-written', 'the Event could not be written')],
    catalogue: [{ source: 'docs/catalogue/all', action: 'synced', servers: 3, rejected: 1, message: '' }],
    readiness: { ready: [SERVER], progressing: [], failed: [] },
    timedOut: false,
    paused: { by: 'suspension', who: 'ada', since: DATES.startedAt, reason: 'moving *house*' },
    traceId: '0af7651916cd43dd8448eb211c80319c',
    requests: 13,
  };
}
