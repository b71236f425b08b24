// Audit event of a definition of the MCP server that is not the reviewed one, as data. Holds its name, and never its text.

import { auditHead } from './audit.ts';
import type { Drifted } from './tools-lock/drifts.ts';

export interface DriftAuditInput extends Pick<Drifted, 'list' | 'name' | 'what'> {
  readonly auditId: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly component: string;
  /** Clients do not get it. */
  readonly isHeld: boolean;
}

const NAME_MAX = 512;

/** Field names and values are those of ToolHive's audit log. */
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
