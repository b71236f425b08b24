// Builds the audit event of a definition of the MCP server that differs from the reviewed definition. The event
// contains the name, never the text.

import { auditHead } from './audit.ts';
import type { Drifted } from './tools-lock/drifts.ts';

export interface DriftAuditInput extends Pick<Drifted, 'list' | 'name' | 'what'> {
  readonly auditId: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly component: string;
  /** Whether the definition is hidden from clients. */
  readonly isHeld: boolean;
}

const NAME_MAX = 512;

/** Uses the field names and values of ToolHive's audit log. */
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
