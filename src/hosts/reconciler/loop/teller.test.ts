// Tests the log of `skep run`: its records, and which records are not repeated.

import { expect, test } from 'vitest';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import { createLogger, type LogLevel } from '../../log.ts';
import { type Teller, tellLog, tellPeople } from './teller.ts';

const RESOURCE = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'b' };

const EMPTY: RunResult = {
  id: 'r1',
  commits: { fleet: 'c1' },
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:00:02.500Z',
  plan: { batches: [], held: [], unchanged: [RESOURCE], waiting: [], approved: [], within: [] },
  outcomes: [],
  problems: [],
  fields: [],
  failures: [],
  warnings: [],
  quarantined: [],
  waits: [],
  catalogue: [],
  readiness: { ready: [], progressing: [], failed: [] },
  timedOut: false,
  requests: 7,
};

/** Returns the records that a teller writes, without the fields of every log record. */
function records(level: LogLevel, play: (teller: Teller) => void): unknown[] {
  const lines: string[] = [];
  play(tellLog(createLogger(level, { write: (line) => lines.push(line) })));
  return lines.map((line) => {
    const { time, pid, hostname, ...record } = JSON.parse(line);
    expect([typeof time, typeof pid, typeof hostname]).toEqual(['string', 'number', 'string']);
    return record;
  });
}

test('a paused run says why it is paused, and how many changes are pending', () => {
  const paused = { by: 'window', window: 'deny "0 0 * * *" for 1 h (UTC)' } as const;
  const gone = {
    action: 'delete',
    resource: RESOURCE,
    key: 'k',
    source: 'fleet',
    uid: 'u1',
    referrers: [],
    diff: [],
  } as const;
  const plan = { ...EMPTY.plan, batches: [{ name: 'delete ConfigMap', changes: [gone] }] };
  const [ended] = records('info', (teller) => teller.result({ ...EMPTY, paused, plan }, undefined));
  expect(ended).toMatchObject({ paused, pending: { create: 0, update: 0, delete: 1 }, msg: 'run ended' });
});

test('each change, problem and failure is a record of its run, and so is the end of the run', () => {
  const problem = {
    code: 'schema-type',
    severity: 'error',
    message: 'must be a number',
    place: { file: 'fleet/x.yaml', line: 3, column: 7 },
    resource: RESOURCE,
  } as const;
  const seen = records('info', (teller) => {
    teller.began({ runId: 'r1', traceId: 't1' });
    teller.outcome({ action: 'created', resource: RESOURCE });
    teller.outcome({ action: 'failed', resource: RESOURCE, error: { code: 'cluster-invalid', message: 'no' } });
    const failures = [new Failure('git-unreachable', 'no answer')];
    teller.result({ ...EMPTY, problems: [problem], failures }, undefined);
  });
  const run = { runId: 'r1', traceId: 't1' };
  expect(seen).toEqual([
    { level: 'info', ...run, action: 'created', resource: 'a/ConfigMap/b', msg: 'a/ConfigMap/b created' },
    {
      level: 'error',
      ...run,
      action: 'failed',
      resource: 'a/ConfigMap/b',
      code: 'cluster-invalid',
      msg: 'a/ConfigMap/b failed: no [cluster-invalid]',
    },
    {
      level: 'error',
      ...run,
      code: 'schema-type',
      resource: 'a/ConfigMap/b',
      file: 'fleet/x.yaml',
      line: 3,
      column: 7,
      msg: 'fleet/x.yaml:3:7: error schema-type: must be a number (a/ConfigMap/b)',
    },
    { level: 'error', ...run, code: 'git-unreachable', msg: 'no answer' },
    {
      level: 'info',
      ...run,
      created: 0,
      configured: 0,
      unchanged: 1,
      deleted: 0,
      held: 0,
      failed: 0,
      commits: { fleet: 'c1' },
      requests: 7,
      seconds: 2.5,
      exitCode: 1,
      msg: 'run ended',
    },
  ]);
});

test('records that every run repeats are logged only at level debug', () => {
  function play(teller: Teller): void {
    const failure = new Failure('cluster-unreachable', 'no answer', { data: { url: 'https://k' } });
    for (const before of [undefined, EMPTY, EMPTY]) {
      teller.began({ runId: 'r' });
      teller.outcome({ action: 'failed', resource: RESOURCE, error: { code: 'x', message: 'no' } });
      teller.result(EMPTY, before);
    }
    teller.failure(failure);
    teller.failure(failure);
    teller.result(EMPTY, EMPTY);
  }
  const messages = (level: LogLevel) => records(level, play).map((record) => (record as { msg: string }).msg);
  expect(messages('info')).toEqual([
    'a/ConfigMap/b failed: no [x]',
    'run ended',
    'no answer',
    'no more cluster-unreachable',
  ]);
  expect(messages('debug').filter((message) => message === 'run ended')).toHaveLength(4);
});

test('on a terminal runs are reported as lines, and a stop that was requested is not an error', () => {
  let text = '';
  const hear = (more: string): void => {
    text += more;
  };
  const teller = tellPeople({ out: hear, err: hear }, INSTALLED);
  teller.failure(new Failure('run-stopped', 'told to stop'));
  teller.failure(new Failure('locked', 'another run', { data: { holder: 'x' } }));
  teller.failure(new Failure('locked', 'another run', { data: { holder: 'x' } }));
  expect(text).toBe('told to stop\nerror locked: another run\n');
});

test('the log consists of lines on a terminal, too', () => {
  let text = '';
  const target = {
    isTTY: true,
    write: (more: string) => {
      text += more;
    },
  };
  const log = createLogger('info', target);
  log.warn({ code: 'control-hook-forged', provider: 'gitea' }, 'webhook with a wrong signature');
  log.info('listening');
  log.debug('not shown');
  expect(text).toBe('warn webhook with a wrong signature (code control-hook-forged, provider gitea)\nlistening\n');
});
