// Builds the audit event for a definition of the MCP server that differs from the reviewed definition. The event
// contains the name of the definition, never its text.

import { auditHead } from './audit.ts';
import type { Drifted } from './tools-lock/drifts.ts';

export interface DriftAuditInput extends Pick<Drifted, 'list' | 'name' | 'what'> {
  readonly auditId: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly component: string;
  /** True if clients do not get the definition. */
  readonly isHeld: boolean;
}

const NAME_MAX = 512;

/** Returns an event with the field names and values of ToolHive's audit log. */
export function driftAuditEvent({ auditId, timeMs, component, list, name, what, isHeld }: DriftAuditInput) {
  const outcome = isHeld ? 'denied' : 'success';
  return {
    ...auditHead({ auditId, timeMs, type: 'mcp_definition_drifted', outcome, component }),
    source: { type: 'local', value: component, extra: {} },
    subjects: { user: 'anonymous' },
    target: { type: list, name: name.slice(0, NAME_MAX) },
    metadata: { extra: { drift: what } },
  } as const;
}
