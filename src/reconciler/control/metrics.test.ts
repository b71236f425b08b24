// Tests the counters and gauges at the end of runs, as Prometheus reads them.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import type { RunResult } from '../run/result.ts';
import { createRunMetrics } from './metrics.ts';
import type { Ending } from './ports.ts';

const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'b' };

const EMPTY = { batches: [], held: [], unchanged: [], waiting: [], approved: [], within: [] };

function result(changes: object): Ending {
  const empty = {
    id: 'r1',
    commits: {},
    quarantined: [],
    waits: [],
    startedAt: '2026-01-01T00:00:00.000Z',
    finishedAt: '2026-01-01T00:00:02.000Z',
    plan: EMPTY,
    outcomes: [],
    problems: [],
    fields: [],
    failures: [],
    warnings: [],
    catalogue: [],
    readiness: { ready: [], progressing: [], failed: [] },
    timedOut: false,
    requests: 0,
  };
  return { result: { ...empty, ...changes } as RunResult };
}

/** Returns the lines of some metric families after the given runs, each of which takes three seconds. */
function after(endings: readonly Ending[], families: RegExp): string[] {
  let now = 0;
  const metrics = createRunMetrics({ version: '1', monotonic: () => now, sources: ['fleet'], interval: () => 30 });
  for (const each of endings) {
    metrics.began('schedule');
    now += 3000;
    metrics.ended(each);
  }
  return metrics
    .text()
    .split('\n')
    .filter((line) => !line.startsWith('#') && families.test(line));
}

const failure = new Failure('cluster-unreachable', 'no answer');

test.each([
  { reason: 'all is well', ending: result({}), outcome: 'done' },
  { reason: 'the cluster is away', ending: { failure }, outcome: 'failed' },
  { reason: 'another run is at work', ending: { failure: new Failure('locked', 'x') }, outcome: 'locked' },
  { reason: 'a kind cannot be listed', ending: result({ failures: [failure] }), outcome: 'failed' },
  {
    reason: 'a manifest is invalid',
    ending: result({ problems: [{ code: 'schema-type', severity: 'error' }] }),
    outcome: 'invalid',
  },
  {
    reason: 'a policy denies something',
    ending: result({ problems: [{ code: 'policy/images-pinned', severity: 'error' }] }),
    outcome: 'denied',
  },
  { reason: 'a manifest is doubtful', ending: result({ problems: [{ severity: 'warning' }] }), outcome: 'done' },
  { reason: 'a change failed', ending: result({ outcomes: [{ action: 'failed', resource: id }] }), outcome: 'partial' },
  {
    reason: 'deletions wait',
    ending: result({ plan: { ...EMPTY, waiting: [{ deletions: [{}, {}] }] } }),
    outcome: 'approval',
  },
  {
    reason: 'somebody has suspended the instance, and something is pending',
    ending: result({
      paused: { by: 'suspension' },
      plan: { ...EMPTY, batches: [{ changes: [] }] },
    }),
    outcome: 'paused',
  },
  {
    reason: 'a window is closed, and nothing is pending',
    ending: result({ paused: { by: 'window' } }),
    outcome: 'done',
  },
])('if $reason, a run counts as $outcome, and as nothing else', ({ ending, outcome }) => {
  const counted = after([ending], /^skep_runs_total/).filter((line) => !line.endsWith(' 0'));
  expect(counted).toEqual([`skep_runs_total{outcome="${outcome}"} 1`]);
});

test('a run that could not read the cluster keeps the findings and the success of the run before', () => {
  const found = result({
    plan: { batches: [], held: [], unchanged: [id, id], waiting: [], approved: [], within: [] },
    commits: { fleet: 'c1' },
  });
  const families = /^skep_(objects\{verdict="unchanged"|run_success|source_commit|locked_out|run_seconds_(sum|count))/;
  expect(after([found, { failure: new Failure('locked', 'x') }], families)).toEqual([
    'skep_run_seconds_sum 6',
    'skep_run_seconds_count 2',
    'skep_run_success_timestamp_seconds 1767225602',
    'skep_locked_out 1',
    'skep_source_commit_info{source="fleet",commit="c1"} 1',
    'skep_objects{verdict="unchanged"} 2',
  ]);
});

test('a commit that is no longer there is forgotten', () => {
  const commits = ['c1', 'c2'].map((commit) => result({ commits: { fleet: commit } }));
  expect(after(commits, /^skep_source_commit_info/)).toEqual(['skep_source_commit_info{source="fleet",commit="c2"} 1']);
});

test('planned changes, made changes and findings are counted', () => {
  const batches = [{ name: 'x', changes: [{ action: 'create' }, { action: 'create' }, { action: 'delete' }] }];
  const outcomes = [
    { action: 'created', resource: id },
    { action: 'failed', resource: id },
    { action: 'deleted', resource: id },
  ];
  const made = result({
    plan: { batches, held: [{ resource: id, reason: 'x' }], unchanged: [], waiting: [], approved: [], within: [] },
    outcomes,
    problems: [{ severity: 'warning' }],
    paused: { by: 'window' },
    readiness: { ready: [id], progressing: [id, id], failed: [] },
    catalogue: [{ action: 'synced' }],
  });
  const families = /^skep_(objects|changes|problems|resources|registry|suspended|window|runs_begun|schedule)/;
  expect(after([made], families)).toEqual([
    'skep_runs_begun_total{reason="schedule"} 1',
    'skep_schedule_interval_seconds 30',
    'skep_objects{verdict="create"} 2',
    'skep_objects{verdict="update"} 0',
    'skep_objects{verdict="delete"} 1',
    'skep_objects{verdict="unchanged"} 0',
    'skep_objects{verdict="held"} 1',
    'skep_resources{readiness="ready"} 1',
    'skep_resources{readiness="progressing"} 2',
    'skep_resources{readiness="failed"} 0',
    'skep_problems{severity="error"} 0',
    'skep_problems{severity="warning"} 1',
    'skep_suspended 0',
    'skep_window_closed 1',
    'skep_changes_total{action="created"} 1',
    'skep_changes_total{action="configured"} 0',
    'skep_changes_total{action="deleted"} 1',
    'skep_changes_total{action="held"} 0',
    'skep_changes_total{action="failed"} 1',
    'skep_registry_syncs_total{result="synced"} 1',
    'skep_registry_syncs_total{result="unchanged"} 0',
    'skep_registry_syncs_total{result="failed"} 0',
  ]);
});

const since = '2026-01-01T00:00:00.000Z';
const at = 1767225600;

test.each([
  {
    reason: 'somebody has suspended the instance',
    changes: { paused: { by: 'suspension', who: 'a', since, reason: '' } },
    reported: ['skep_suspended 1', `skep_suspended_timestamp_seconds ${at}`],
  },
  {
    reason: 'somebody has written the record by hand, and no time that is one',
    changes: { paused: { by: 'suspension', who: 'a', since: 'unknown', reason: '' } },
    reported: ['skep_suspended 1'],
  },
  {
    reason: 'a source was rolled back',
    changes: { quarantined: [{ source: 'fleet', since }] },
    reported: ['skep_suspended 0', `skep_source_rolled_back_timestamp_seconds{source="fleet"} ${at}`],
  },
  {
    reason: 'an approval ran out, and a notice was not sent',
    changes: {
      plan: { ...EMPTY, waiting: [{ deletions: [{}], expiredAt: since }] },
      warnings: [new Failure('notify-failed', 'x')],
    },
    reported: ['skep_approval_expired 1', 'skep_suspended 0', 'skep_warnings_total{code="notify-failed"} 1'],
  },
  {
    reason: 'others keep fields, and refuse a change',
    changes: {
      fields: ['kept', 'kept', 'left', 'set-back'].map((state) => ({ state })),
      outcomes: [{ action: 'failed', resource: id, error: { code: 'cluster-invalid', message: 'x' } }],
    },
    reported: [
      'skep_field_conflicts 2',
      'skep_fields_left 1',
      'skep_fields_set_back_total 1',
      'skep_suspended 0',
      'skep_change_failures_total{code="cluster-invalid"} 1',
    ],
  },
])('counts if $reason, and not in the run after it', ({ changes, reported }) => {
  const families = /^skep_(suspended|source_rolled|approval_expired|warnings|field_conflicts|fields|change_failures)/;
  const zero = (line: string) => line.endsWith(' 0') && !line.startsWith('skep_suspended');
  expect(after([result(changes)], families).filter((line) => !zero(line))).toEqual(reported);
  const next = after([result(changes), result({})], families).filter((line) => !line.includes('_total'));
  expect(next).toEqual(['skep_approval_expired 0', 'skep_field_conflicts 0', 'skep_fields_left 0', 'skep_suspended 0']);
});

test('runs that have changes to make again and again are counted, and those that may not write are not', () => {
  const change = {
    plan: {
      batches: [{ name: 'x', changes: [{ action: 'update' }] }],
      held: [],
      unchanged: [],
      waiting: [],
      approved: [],
      within: [],
    },
  };
  const reported = (...endings: object[]) => after(endings.map(result), /^skep_runs_with_changes_in_a_row/);
  expect(reported(change, change, { ...change, paused: { by: 'window' } })).toEqual([
    'skep_runs_with_changes_in_a_row 2',
  ]);
  expect(reported(change, change, {})).toEqual(['skep_runs_with_changes_in_a_row 0']);
});

test('requests and fetches by how they ended', () => {
  const metrics = createRunMetrics({ version: '1', monotonic: () => 0, sources: ['fleet'], interval: () => 30 });
  metrics.requested({ method: 'GET', status: 200, seconds: 0.02, repeated: false, urgent: false });
  metrics.requested({ method: 'PATCH', status: 429, seconds: 0.02, repeated: false, urgent: false });
  metrics.requested({ method: 'PATCH', seconds: 60, repeated: true, urgent: false });
  metrics.fetched({ source: 'fleet', seconds: 0.2 });
  metrics.fetched({ source: 'fleet', seconds: 0.1, failure: 'git-unreachable' });
  const lines = metrics.text().split('\n');
  const families = /^skep_(cluster_(requests|retries)_total|cluster_request_seconds_count|source_fetches)/;
  expect(lines.filter((line) => families.test(line))).toEqual([
    'skep_cluster_requests_total{method="GET",code="200"} 1',
    'skep_cluster_requests_total{method="PATCH",code="429"} 1',
    'skep_cluster_requests_total{method="PATCH",code="none"} 1',
    'skep_cluster_request_seconds_count{method="GET"} 1',
    'skep_cluster_request_seconds_count{method="PATCH"} 2',
    'skep_cluster_retries_total{method="PATCH"} 1',
    'skep_source_fetches_total{source="fleet",outcome="fetched"} 1',
    'skep_source_fetches_total{source="fleet",outcome="git-unreachable"} 1',
  ]);
});
