// Builds the audit events of a workflow and its steps. Events contain names, caller and outcome, but no arguments,
// results or error texts.

import type { JsonObject } from '#std/json.ts';
import { type AuditOutcome, auditHead, auditSubjects } from './audit.ts';
import { delegationOf } from './audit-delegation.ts';
import type { AuditType } from './audit-types.ts';

export interface WorkflowAuditInput {
  readonly auditId: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly type: AuditType;
  readonly outcome: AuditOutcome;
  readonly run: string;
  readonly workflow: string;
  readonly step?: { readonly id: string; readonly type: string; readonly tool?: string };
  /** Verified claims of the caller. Empty for anonymous callers. */
  readonly claims: JsonObject;
  /** Maximum number of hops of a delegation in an event. The default is 10. */
  readonly delegationDepth?: number;
  readonly extra: {
    readonly timeout_ms?: number;
    readonly duration_ms?: number;
    readonly step_count?: number;
    readonly retry_count?: number;
    /** Template of the step's condition, without its result. */
    readonly condition?: string;
  };
}

/** Returns an event with the field names and values of ToolHive's audit log. */
export function workflowAuditEvent(input: WorkflowAuditInput) {
  const { auditId, timeMs, type, outcome, run, workflow, step, claims, extra } = input;
  return {
    ...auditHead({ auditId, timeMs, type, outcome, component: 'vmcp-composer' }),
    source: { type: 'local', value: 'vmcp-composer', extra: {} },
    subjects: auditSubjects(claims),
    delegation: delegationOf(claims, input.delegationDepth),
    target: {
      workflow_id: run,
      workflow_name: workflow,
      type: step === undefined ? 'workflow' : 'workflow_step',
      ...(step === undefined ? {} : { step_id: step.id, step_type: step.type, tool_name: step.tool }),
    },
    metadata: { extra },
  } as const;
}

export type WorkflowAuditEvent = ReturnType<typeof workflowAuditEvent>;
