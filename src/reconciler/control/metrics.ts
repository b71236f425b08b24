// Counts the work of the reconciler for Prometheus. The loop of runs and the adapters report to it.

import { createMetrics, type Gauge, type Metrics } from '#std/telemetry/metrics.ts';
import { addProcessMetrics, type ProcessUsage } from '#std/telemetry/process-metrics.ts';
import type { FieldState } from '../run/diff/field-states.ts';
import type { Exchange } from '../run/ports.ts';
import { exitCodeOf, type RunResult } from '../run/result.ts';
import type { Ending, RunWatcher, SourceFetch } from './ports.ts';

export interface RunMetrics extends RunWatcher {
  /** Sets whether a requested run has yet to begin. */
  queued(waiting: boolean): void;
  requested(exchange: Exchange): void;
  fetched(fetch: SourceFetch): void;
  /** Counts objects whose change only a LIST showed although a watch was open. */
  missed(kind: string, objects: number): void;
  webhook(provider: string, outcome: string): void;
  /** Sets whether this process holds the instance's lease now. */
  lock(held: boolean): void;
  process(usage: ProcessUsage): void;
  readonly families: Metrics['families'];
  text(): string;
}

export interface RunMetricsOptions {
  readonly version: string;
  readonly monotonic: () => number;
  /** Names of all sources. */
  readonly sources: readonly string[];
  /** Returns the present number of seconds between two dates of the schedule. */
  readonly interval: () => number;
}

const RUN_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Name of an outcome by exit code. */
const OUTCOMES: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'failed',
  2: 'paused',
  3: 'invalid',
  4: 'denied',
  5: 'approval',
  7: 'partial',
  8: 'timeout',
};
const LOCKED = 'locked';

export function createRunMetrics({ version, monotonic, sources, interval }: RunMetricsOptions): RunMetrics {
  const metrics = createMetrics();
  metrics.gauge('skep_build_info', 'Release of this program.', ['version']).set([version], 1);
  const runs = addRunMetrics(metrics);
  const found = addFindings(metrics);
  const world = addWorldMetrics(metrics, sources);
  const process = addProcessMetrics(metrics);
  let beganAt = 0;
  return {
    began(reason) {
      beganAt = monotonic();
      runs.began(reason, interval());
    },
    queued: runs.queued,
    ended(ending) {
      runs.ended(ending, (monotonic() - beganAt) / 1000);
      if ('result' in ending) found(ending.result);
    },
    ...world,
    process,
    families: metrics.families,
    text: metrics.text,
  };
}

function addRunMetrics(metrics: Metrics) {
  const active = metrics.gauge('skep_run_active', 'Whether a run is under way.', []);
  const queue = metrics.gauge('skep_run_queued', 'Whether a run is requested that has not begun.', []);
  const begun = metrics.counter('skep_runs_begun_total', 'Begun runs, by reason.', ['reason']);
  const total = metrics.counter('skep_runs_total', 'Ended runs, by outcome (docs/operating.md).', ['outcome']);
  const seconds = metrics.histogram('skep_run_seconds', 'Duration of runs.', [], RUN_SECONDS);
  const endedAt = metrics.gauge('skep_run_ended_timestamp_seconds', 'End of the last run that saw the cluster.', []);
  const success = metrics.gauge('skep_run_success_timestamp_seconds', 'End of the last run with outcome `done`.', []);
  const every = metrics.gauge('skep_schedule_interval_seconds', 'Seconds between two dates of the schedule.', []);
  const lockedOut = metrics.gauge('skep_locked_out', 'Whether another run held the lease when the last one began.', []);
  for (const outcome of [...Object.values(OUTCOMES), LOCKED]) total.add([outcome], 0);
  active.set([], 0);
  queue.set([], 0);
  return {
    began(reason: string, intervalSeconds: number): void {
      every.set([], intervalSeconds);
      active.set([], 1);
      begun.add([reason]);
    },
    queued: (waiting: boolean) => queue.set([], waiting ? 1 : 0),
    ended(ending: Ending, took: number): void {
      const outcome = outcomeOf(ending);
      active.set([], 0);
      total.add([outcome]);
      seconds.observe([], took);
      lockedOut.set([], outcome === LOCKED ? 1 : 0);
      if (!('result' in ending)) return;
      const at = Date.parse(ending.result.finishedAt) / 1000;
      endedAt.set([], at);
      if (outcome === OUTCOMES[0]) success.set([], at);
    },
  };
}

function outcomeOf(ending: Ending): string {
  if ('failure' in ending) return ending.failure.code === LOCKED ? LOCKED : (OUTCOMES[1] ?? '');
  return OUTCOMES[exitCodeOf(ending.result)] ?? '';
}

/** Reports the findings of the last run that could read the cluster. */
function addFindings(metrics: Metrics): (result: RunResult) => void {
  const tellers = [addPlanFindings, addProblemFindings, addPauseFindings, addDone].map((add) => add(metrics));
  return (result) => {
    for (const tell of tellers) tell(result);
  };
}

function addPlanFindings(metrics: Metrics): (result: RunResult) => void {
  const commits = metrics.gauge('skep_source_commit_info', 'The commit that the last run read.', ['source', 'commit']);
  const objects = metrics.gauge('skep_objects', 'Objects by the action that the last run found.', ['verdict']);
  const waiting = metrics.gauge('skep_deletions_waiting', 'Deletions that wait for approval.', []);
  const changing = metrics.gauge(
    'skep_runs_with_changes_in_a_row',
    'Runs in a row, up to the last, that had changes to make.',
    [],
  );
  const expired = metrics.gauge('skep_approval_expired', 'Whether an approval of waiting deletions has expired.', []);
  const resources = metrics.gauge('skep_resources', 'Custom resources, by readiness.', ['readiness']);
  let inARow = 0;
  changing.set([], inARow);
  return ({ plan, commits: read, readiness, paused }) => {
    commits.clear();
    for (const [source, commit] of Object.entries(read)) commits.set([source, commit], 1);
    const planned = plan.batches.flatMap((batch) => batch.changes.map(({ action }) => action));
    for (const action of ['create', 'update', 'delete'] as const)
      objects.set([action], planned.filter((each) => each === action).length);
    // Runs that may not write find the same changes again and again.
    if (paused === undefined) inARow = planned.length === 0 ? 0 : inARow + 1;
    changing.set([], inARow);
    objects.set(['unchanged'], plan.unchanged.length);
    objects.set(['held'], plan.held.length);
    waiting.set([], plan.waiting.flatMap(({ deletions }) => deletions).length);
    expired.set([], plan.waiting.some(({ expiredAt }) => expiredAt !== undefined) ? 1 : 0);
    for (const [state, ids] of Object.entries(readiness)) resources.set([state], ids.length);
  };
}

function addProblemFindings(metrics: Metrics): (result: RunResult) => void {
  const problems = metrics.gauge('skep_problems', 'Problems of manifests that the last run found.', ['severity']);
  const conflicts = metrics.gauge('skep_field_conflicts', 'Fields that others keep, though Git has other values.', []);
  const left = metrics.gauge('skep_fields_left', 'Fields that others have set, and manifests leave to others.', []);
  const setBack = metrics.counter(
    'skep_fields_set_back_total',
    'Fields of others that were set back to the value in Git.',
    [],
  );
  setBack.add([], 0);
  const failures = metrics.gauge('skep_failures', 'Failures of the last run, single changes aside.', []);
  return (result) => {
    for (const severity of ['error', 'warning'])
      problems.set([severity], result.problems.filter((each) => each.severity === severity).length);
    const inState = (state: FieldState): number => result.fields.filter((each) => each.state === state).length;
    conflicts.set([], inState('kept'));
    left.set([], inState('left'));
    if (result.paused === undefined) setBack.add([], inState('set-back'));
    failures.set([], result.failures.length);
  };
}

function addPauseFindings(metrics: Metrics): (result: RunResult) => void {
  const suspended = metrics.gauge('skep_suspended', 'Whether `skep suspend` keeps runs from writing.', []);
  const suspendedAt = metrics.gauge('skep_suspended_timestamp_seconds', 'Time of the suspension, if there is one.', []);
  const closed = metrics.gauge('skep_window_closed', 'Whether sync windows keep runs from writing.', []);
  const rolledBack = metrics.gauge(
    'skep_source_rolled_back_timestamp_seconds',
    'Time since which a rollback keeps the source at an earlier commit.',
    ['source'],
  );
  return ({ paused, quarantined }) => {
    suspended.set([], paused?.by === 'suspension' ? 1 : 0);
    closed.set([], paused?.by === 'window' ? 1 : 0);
    suspendedAt.clear();
    if (paused?.by === 'suspension') setTime(suspendedAt, [], paused.since);
    rolledBack.clear();
    for (const { source, since } of quarantined) setTime(rolledBack, [source], since);
  };
}

/** Sets the gauge unless the time is invalid: people may write such records by hand. */
function setTime(gauge: Gauge, labels: readonly string[], rfc3339: string): void {
  const at = Date.parse(rfc3339);
  if (!Number.isNaN(at)) gauge.set(labels, at / 1000);
}

function addDone(metrics: Metrics): (result: RunResult) => void {
  const changes = metrics.counter('skep_changes_total', 'Changes made, or tried.', ['action']);
  const refused = metrics.counter('skep_change_failures_total', 'Changes that failed, by code.', ['code']);
  const syncs = metrics.counter('skep_registry_syncs_total', 'Syncs of registry sources.', ['result']);
  const warnings = metrics.counter('skep_warnings_total', 'Failures that did not affect the run itself.', ['code']);
  for (const action of ['created', 'configured', 'deleted', 'held', 'failed']) changes.add([action], 0);
  for (const result of ['synced', 'unchanged', 'failed']) syncs.add([result], 0);
  return ({ outcomes, catalogue, warnings: beside }) => {
    for (const { action, error } of outcomes) {
      if (action !== 'unchanged') changes.add([action]);
      if (action === 'failed' && error !== undefined) refused.add([error.code]);
    }
    for (const { action } of catalogue) syncs.add([action]);
    for (const { code } of beside) warnings.add([code]);
  };
}

function addWorldMetrics(metrics: Metrics, sources: readonly string[]) {
  const requests = metrics.counter('skep_cluster_requests_total', 'Requests to the API server.', ['method', 'code']);
  const seconds = metrics.histogram(
    'skep_cluster_request_seconds',
    'Time until the response.',
    ['method'],
    REQUEST_SECONDS,
  );
  const retries = metrics.counter('skep_cluster_retries_total', 'Requests that were sent again.', ['method']);
  const fetches = metrics.counter('skep_source_fetches_total', 'Fetches of Git sources.', ['source', 'outcome']);
  const fetching = metrics.histogram('skep_source_fetch_seconds', 'Duration of fetches.', ['source'], REQUEST_SECONDS);
  const webhooks = metrics.counter('skep_webhooks_total', 'Webhooks of Git servers.', ['provider', 'outcome']);
  const missed = metrics.counter('skep_watch_missed_total', 'Changes that a watch missed and a LIST showed.', ['kind']);
  const held = metrics.gauge('skep_lock_held', 'Whether this process holds the lease of the instance.', []);
  for (const source of sources) fetches.add([source, FETCHED], 0);
  held.set([], 0);
  return {
    requested(exchange: Exchange): void {
      requests.add([exchange.method, String(exchange.status ?? 'none')]);
      seconds.observe([exchange.method], exchange.seconds);
      if (exchange.repeated) retries.add([exchange.method]);
    },
    fetched({ source, failure = FETCHED, seconds: took }: SourceFetch): void {
      fetches.add([source, failure]);
      fetching.observe([source], took);
    },
    missed: (kind: string, objects: number) => missed.add([kind], objects),
    webhook: (provider: string, outcome: string) => webhooks.add([provider, outcome]),
    lock: (isHeld: boolean) => held.set([], isHeld ? 1 : 0),
  };
}

const FETCHED = 'fetched';
