// Offers the workflows of a virtual server as its own tools, and records their runs.

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { auditLine } from '#gateway/gate/audit.ts';
import type { AuditType } from '#gateway/gate/audit-types.ts';
import type { BeginSpan } from '#gateway/proxy/ports.ts';
import type { InnerCalls, OwnTools } from '#gateway/virtual-server/own-tools/ports.ts';
import { workflowFaults } from '#gateway/virtual-server/workflows/check.ts';
import { createLastRuns, type EndedRun } from '#gateway/virtual-server/workflows/last-runs.ts';
import { addWorkflowMetrics } from '#gateway/virtual-server/workflows/metrics.ts';
import { createWorkflowTools, defineTools } from '#gateway/virtual-server/workflows/tools.ts';
import { jsonEquals } from '#std/json.ts';
import type { Metrics } from '#std/telemetry/metrics.ts';
import { proxyClock } from '../proxy/clock.ts';
import { VERSION } from '../version.ts';

export interface Workflows {
  readonly ownTools: (calls: InnerCalls) => OwnTools;
  replace(config: VmcpConfig): void;
  /** Returns the ended runs, newest first. */
  runs(): readonly EndedRun[];
}

export interface WorkflowOptions {
  readonly config: VmcpConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly beginSpan: BeginSpan | undefined;
  readonly audit: { readonly keeps: (type: AuditType) => boolean; readonly write: (line: string) => void };
}

/** Returns warnings about workflows that have an effect that their author may not expect. */
export function workflowWarnings({ compositeTools = [] }: VmcpConfig): readonly string[] {
  const found = workflowFaults(compositeTools).filter(({ severity }) => severity === 'warning');
  return found.map(({ pointer, message }) => `${pointer}: ${message}`);
}

export function openWorkflows({ config, logger, metrics, beginSpan, audit }: WorkflowOptions): Workflows {
  let current = config;
  let tools = defineTools(config.compositeTools ?? []);
  const lastRuns = createLastRuns();
  const runObserver = {
    ...{ clock: proxyClock, newId: randomUUID, metrics: addWorkflowMetrics(metrics), beginSpan },
    delegationDepth: () => current.audit?.maxDelegationDepth,
    audit(event: { readonly type: AuditType }) {
      if (current.audit !== undefined && audit.keeps(event.type)) audit.write(`${auditLine(event)}\n`);
    },
    log: (facts: object, message: string) => logger.info(facts, message),
    keep: lastRuns.keep,
  };
  function warn(): void {
    for (const message of workflowWarnings(current)) logger.warn({ code: 'vmcp-workflow-doubtful' }, message);
  }

  warn();
  return {
    ownTools: (calls) =>
      createWorkflowTools({
        ...{ name: config.name, version: VERSION, calls, clock: proxyClock, runObserver },
        replica: `w${proxyClock.random(6).toString('hex')}`,
        observer: { dropped: () => undefined, log: (level, message) => logger[level]({ part: 'workflows' }, message) },
        workflows: () => tools,
        // In mode `fail`, the call itself reports missing members.
        hidesIncomplete: () => current.operational.failureHandling.partialFailureMode === 'best_effort',
      }),
    replace(next) {
      tools = defineTools(next.compositeTools ?? []);
      const same = jsonEquals(current.compositeTools ?? [], next.compositeTools ?? []);
      current = next;
      if (!same) warn();
    },
    runs: lastRuns.all,
  };
}
