// Renders plans, runs and validations as JSON, version 1.

import type { Failure } from '#std/failure.ts';
import type { Problem } from '#std/problem.ts';
import type { ChangeOutcome } from '../../run/apply/apply.ts';
import type { Preview } from '../../run/diff/compared.ts';
import type { Change, Plan } from '../../run/plan/plan.ts';
import { type RunResult, summaryOf } from '../../run/result.ts';
import type { ManifestValidation } from '../../run/validate.ts';
import { countsOf } from '../change-text.ts';
import { jsonOfExplanation } from '../explanations.ts';
import { visible } from '../visible.ts';

export function jsonOfValidation({ summary, problems }: ManifestValidation): string {
  return print({ version: 1, summary, problems: problems.map(flat) });
}

export function jsonOfPlan(result: RunResult): string {
  const { plan } = result;
  return print({
    version: 1,
    commit: commitOf(result),
    commits: result.commits,
    quarantined: quarantinedOf(result),
    waits: waitsOf(result),
    against: result.against,
    rendered: result.rendered,
    summary: { ...countsOf(plan), unchanged: plan.unchanged.length, held: plan.held.length },
    batches: plan.batches.map(({ name, changes }) => ({
      name,
      changes: changes.map(changeOf),
    })),
    held: plan.held.map(heldOf),
    ...approvalsOf(plan),
    fields: result.fields.map(fieldOf),
    explanations: result.explanations?.map(jsonOfExplanation),
    impact: result.impact,
    paused: result.paused,
    problems: result.problems.map(flat),
    failures: result.failures.map(failureOf),
  });
}

export function jsonOfRun(result: RunResult): string {
  const { id, startedAt, finishedAt, commits, traceId } = result;
  const traced = traceId === undefined ? {} : { traceId };
  return print({
    version: 1,
    run: { id, commit: commitOf(result), commits, startedAt, finishedAt, ...traced },
    quarantined: quarantinedOf(result),
    waits: waitsOf(result),
    summary: summaryOf(result),
    requests: result.requests,
    outcomes: result.outcomes.map(outcomeOf),
    held: result.plan.held.map(heldOf),
    ...approvalsOf(result.plan),
    fields: result.fields.map(fieldOf),
    catalogue: result.catalogue,
    readiness: result.readiness,
    timedOut: result.timedOut,
    paused: result.paused,
    pending: result.paused && countsOf(result.plan),
    problems: result.problems.map(flat),
    failures: result.failures.map(failureOf),
    warnings: result.warnings.map(failureOf),
  });
}

function changeOf(change: Change): object {
  const { action, resource, diff } = change;
  if (change.action === 'delete') return { action, resource, diff };
  const { replaces, preview } = change;
  return { action, resource, diff, replaces: replaces || undefined, preview: preview && previewOf(preview) };
}

function previewOf({ result, ...reason }: Preview): object {
  return { verdict: result, ...reason };
}

/** Returns the commit if the run has read exactly one source, else null. */
function commitOf({ commits }: RunResult): string | null {
  const [first, ...others] = Object.values(commits);
  return first === undefined || others.length > 0 ? null : first;
}

/** Returns the rolled-back sources. A source stays at `good` while its ref names `bad` or an ancestor of `bad`. */
function quarantinedOf({ quarantined }: RunResult): object[] {
  return quarantined.map(({ older: _older, ...entry }) => entry);
}

function waitsOf({ waits }: RunResult): object[] {
  return waits.map(({ passes: _passes, ...wait }) => wait);
}

function outcomeOf({ action, resource, error }: ChangeOutcome): object {
  return { action, resource, error };
}

function heldOf({ resource, reason }: Plan['held'][number]): object {
  return { resource, reason };
}

function fieldOf({ resource, path, manager, state }: RunResult['fields'][number]): object {
  return { resource, path, manager, state };
}

/**
 * Returns `approvals` (waiting deletions by source) and `approved` (approvals of deletions that would otherwise wait).
 */
function approvalsOf({ waiting, approved }: Plan): object {
  return {
    approvals: waiting,
    approved: approved.map(({ source, approval: { hash, expiresAt } }) => ({ source, hash, expiresAt })),
  };
}

function failureOf({ code, message, data }: Failure): object {
  return { code, message, data };
}

function flat({ place, ...problem }: Problem): object {
  return { ...problem, ...(place ?? {}) };
}

function print(value: object): string {
  return `${visible(JSON.stringify(value, null, 2))}\n`;
}
