// Records a run of a workflow in audit events, metrics and log, and in spans for the run and each step.

import type { Json } from '#std/json.ts';
import type { Exchange } from '../../backends/backend.ts';
import type { AuditOutcome } from '../../gate/audit.ts';
import type { AuditType } from '../../gate/audit-types.ts';
import { type WorkflowAuditEvent, type WorkflowAuditInput, workflowAuditEvent } from '../../gate/audit-workflow.ts';
import type { CompiledStep, Workflow } from './definition.ts';
import type { EndedRun, EndedStep } from './last-runs.ts';
import type { WorkflowMetrics } from './metrics.ts';
import type { RunEvent, RunResult } from './ports.ts';

interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

interface RunSpan {
  readonly context: TraceContext;
  end(name: string, attributes: Readonly<Record<string, Json>>, failed: boolean): void;
}

export interface RunObserverDeps {
  readonly clock: { now(): number; monotonic(): number };
  readonly newId: () => string;
  readonly audit: (event: WorkflowAuditEvent) => void;
  /** Returns the maximum number of delegation hops in an event. undefined means 10. */
  readonly delegationDepth: () => number | undefined;
  readonly metrics: WorkflowMetrics;
  /** Absent if tracing is off. */
  readonly beginSpan?: (parent: TraceContext, startMs: number, kind: 'internal') => RunSpan;
  readonly log: (facts: Readonly<Record<string, string | number>>, message: string) => void;
  readonly keep: (run: EndedRun) => void;
}

export interface RunObserver {
  observe(event: RunEvent): void;
  /** Returns the trace headers for the calls of a step. */
  traceOf(step: string): Readonly<Record<string, string>>;
}

interface Begun {
  readonly at: number;
  readonly span: RunSpan | undefined;
  retries: number;
}

interface ObservedRun {
  readonly ports: RunObserverDeps;
  readonly workflow: Workflow;
  readonly cause: Exchange;
  readonly steps: Map<string, Begun>;
  readonly ended: EndedStep[];
  run: string;
  whole: Begun | undefined;
}

export function observeRun(ports: RunObserverDeps, workflow: Workflow, cause: Exchange): RunObserver {
  const observed: ObservedRun = { ports, workflow, cause, steps: new Map(), ended: [], run: '', whole: undefined };
  return {
    observe: (event) => observeEvent(observed, event),
    traceOf(step) {
      const { traceparent, tracestate } = observed.steps.get(step)?.span?.context ?? {};
      return {
        ...(traceparent === undefined ? {} : { traceparent }),
        ...(tracestate === undefined ? {} : { tracestate }),
      };
    },
  };
}

function observeEvent(observed: ObservedRun, event: RunEvent): void {
  switch (event.kind) {
    case 'started':
      observed.run = event.run;
      observed.whole = beginPart(observed, observed.cause.headers);
      writeAudit(observed, 'vmcp_workflow_started', 'success', {
        extra: { timeout_ms: observed.workflow.timeoutMs, step_count: observed.workflow.steps.length },
      });
      return;
    case 'ended':
      endRun(observed, event.result);
      return;
    case 'step-started':
      observed.steps.set(event.step, beginPart(observed, observed.whole?.span?.context ?? {}));
      auditStep(observed, event.step, 'vmcp_workflow_step_started', 'success', {});
      return;
    case 'step-retried': {
      const begun = observed.steps.get(event.step);
      if (begun !== undefined) begun.retries += 1;
      return;
    }
    case 'step-progress':
      return;
    case 'step-ended':
      endStep(observed, event);
  }
}

function beginPart({ ports }: ObservedRun, parent: TraceContext): Begun {
  return { at: ports.clock.monotonic(), span: ports.beginSpan?.(parent, ports.clock.now(), 'internal'), retries: 0 };
}

function durationOf({ ports }: ObservedRun, begun: Begun | undefined): number {
  return begun === undefined ? 0 : Math.round(ports.clock.monotonic() - begun.at);
}

const RUN_ENDS: Readonly<Record<RunResult['kind'], AuditType>> = {
  completed: 'vmcp_workflow_completed',
  failed: 'vmcp_workflow_failed',
  'timed-out': 'vmcp_workflow_timed_out',
  cancelled: 'vmcp_workflow_failed',
};

function endRun(observed: ObservedRun, { kind }: RunResult): void {
  const { ports, workflow, whole } = observed;
  const duration = durationOf(observed, whole);
  const failed = kind !== 'completed';
  ports.metrics.ended(workflow.name, failed, duration / 1000);
  const extra = { duration_ms: duration, step_count: workflow.steps.length };
  writeAudit(observed, RUN_ENDS[kind], failed ? 'failure' : 'success', { extra });
  const attributes = { 'workflow.name': workflow.name, 'workflow.id': observed.run, 'workflow.result': kind };
  whole?.span?.end(`workflow ${workflow.name}`, attributes, failed);
  // The log contains no failure messages, since the messages may contain private texts of a server.
  ports.log({ workflow: workflow.name, run: observed.run, result: kind, durationMs: duration }, 'a workflow ended');
  const endedAt = ports.clock.now();
  const steps = [...observed.ended];
  ports.keep({ run: observed.run, workflow: workflow.name, endedAt, durationMs: duration, result: kind, steps });
}

const STEP_ENDS = {
  completed: 'vmcp_workflow_step_completed',
  failed: 'vmcp_workflow_step_failed',
  cancelled: 'vmcp_workflow_step_failed',
  skipped: 'vmcp_workflow_step_skipped',
} as const;

function endStep(observed: ObservedRun, { step, end }: Extract<RunEvent, { kind: 'step-ended' }>): void {
  const begun = observed.steps.get(step);
  const failed = end === 'failed' || end === 'cancelled';
  const retries = begun?.retries ?? 0;
  const durationMs = durationOf(observed, begun);
  observed.ended.push({ id: step, result: end, durationMs, retries });
  const extra = { duration_ms: durationMs, retry_count: retries > 0 ? retries : undefined };
  auditStep(observed, step, STEP_ENDS[end], failed ? 'failure' : 'success', extra);
  const attributes = { 'workflow.name': observed.workflow.name, 'workflow.step.id': step, 'workflow.step.result': end };
  begun?.span?.end(`workflow step ${step}`, attributes, failed);
}

function auditStep(
  observed: ObservedRun,
  id: string,
  type: AuditType,
  outcome: AuditOutcome,
  extra: WorkflowAuditInput['extra'],
): void {
  const step = observed.workflow.steps.find((each) => each.id === id);
  if (step === undefined) return;
  const condition = step.condition?.source.slice(0, 256);
  const target = { id, type: step.type, tool: toolOf(step) };
  writeAudit(observed, type, outcome, { step: target, extra: { timeout_ms: step.timeoutMs, condition, ...extra } });
}

export function toolOf(step: CompiledStep): string | undefined {
  return step.type === 'elicitation' ? undefined : step.type === 'tool' ? step.tool : step.inner.tool;
}

function writeAudit(
  { ports, workflow, cause, run }: ObservedRun,
  type: AuditType,
  outcome: AuditOutcome,
  more: Pick<WorkflowAuditInput, 'step' | 'extra'>,
): void {
  const { clock, newId, audit, delegationDepth } = ports;
  const claims = cause.identity?.claims ?? {};
  audit(
    workflowAuditEvent({
      auditId: newId(),
      timeMs: clock.now(),
      type,
      outcome,
      run,
      workflow: workflow.name,
      claims,
      delegationDepth: delegationDepth(),
      ...more,
    }),
  );
}
