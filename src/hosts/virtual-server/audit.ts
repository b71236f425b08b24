// Opens the audit log of a virtual server: the types of its events, their contents, and the file.

import { openSync } from 'node:fs';
import type { Logger } from 'pino';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { AuditData } from '#gateway/gate/audit-contents.ts';
import { AUDIT_TYPES, type AuditType } from '#gateway/gate/audit-types.ts';
import { Failure } from '#std/failure.ts';
import { openLineOutput } from '../line-output.ts';

export interface VirtualAudit {
  keeps(type: AuditType): boolean;
  /** Returns which contents of requests and responses events include. */
  data(): AuditData;
  /** Returns the component named in events; undefined if the configuration has no audit log. */
  component(): string | undefined;
  /** Returns the maximum number of bytes of a response that an event includes. */
  keptAnswerBytes(): number;
  /** Writes a line to the file. undefined if lines are written to standard output. */
  readonly write: ((line: string) => void) | undefined;
  /** Returns true while the file cannot be written. */
  fails(): boolean;
  /** Uses event types and contents of a new configuration. The file stays the same. */
  replace(config: VmcpConfig): void;
  close(): Promise<void>;
}

/** `write`: if set, receives all lines in place of the file. Throws Failure `vmcp-audit-file-unwritable`. */
export function openVirtualAudit(
  config: VmcpConfig,
  logger: Logger,
  write: ((line: string) => void) | undefined,
): VirtualAudit {
  let kept = keptTypes(config);
  let data = contentsOf(config);
  let component = componentOf(config);
  for (const type of unknownTypes(config)) logger.warn({ type }, 'there is no such type of audit events');
  const file = config.audit?.logFile;
  const lines = file === undefined ? undefined : openLineOutput(openFile(file), logger);
  return {
    keeps: (type) => kept.has(type),
    data: () => data,
    component: () => component,
    keptAnswerBytes: () => (data.response ? data.maxBytes : 0),
    write: write ?? (lines === undefined ? undefined : lines.write),
    fails: () => lines?.fails() ?? false,
    replace(next) {
      kept = keptTypes(next);
      data = contentsOf(next);
      component = componentOf(next);
    },
    close: async () => lines?.close(),
  };
}

function componentOf({ audit, name }: VmcpConfig): string | undefined {
  return audit && (audit.component ?? name);
}

function contentsOf({ audit }: VmcpConfig): AuditData {
  const { includeRequestData = false, includeResponseData = false, maxDataSize = 0 } = audit ?? {};
  const readsErrors = audit?.detectApplicationErrors !== false;
  const delegationDepth = audit?.maxDelegationDepth;
  return {
    ...{ request: includeRequestData, response: includeResponseData, maxBytes: maxDataSize },
    ...{ readsErrors, delegationDepth },
  };
}

/**
 * Returns the recorded event types. Excluded types take precedence, and an empty list means all types (virtual server
 * document, Audit config).
 */
function keptTypes({ audit }: VmcpConfig): ReadonlySet<string> {
  const { eventTypes = [], excludeEventTypes = [] } = audit ?? {};
  const named: readonly string[] = eventTypes.length === 0 ? AUDIT_TYPES : eventTypes;
  return new Set(named.filter((type) => !excludeEventTypes.includes(type)));
}

export function unknownTypes({ audit }: VmcpConfig): readonly string[] {
  const known: readonly string[] = AUDIT_TYPES;
  return [...(audit?.eventTypes ?? []), ...(audit?.excludeEventTypes ?? [])].filter((type) => !known.includes(type));
}

function openFile(file: string): number {
  try {
    return openSync(file, 'a');
  } catch (cause) {
    throw new Failure('vmcp-audit-file-unwritable', `${file} cannot be written`, { data: { file }, cause });
  }
}
