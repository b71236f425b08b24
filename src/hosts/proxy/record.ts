// What a proxy keeps of each request, as its configuration says: audit lines on standard output, metrics, spans, its log.

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { RunConfig } from '#contracts/run-config.ts';
import { auditLine } from '#gateway/gate/audit.ts';
import type { AuditData } from '#gateway/gate/audit-contents.ts';
import type { AuditType } from '#gateway/gate/audit-types.ts';
import type { ProxyMetrics } from '#gateway/proxy/metrics.ts';
import { type AuditTrail, type Recorders, recordCall } from '#gateway/proxy/records/record.ts';
import type { RecordedCall } from '#gateway/proxy/records/recording.ts';
import { type LineOutput, openLineOutput } from '../line-output.ts';
import { proxyClock } from './clock.ts';

export interface RecorderOptions {
  readonly metrics: ProxyMetrics;
  readonly logger: Logger;
  /** Takes the lines of the audit. Absent: standard output, where a fleet's log collection reads. */
  readonly writeAudit?: (line: string) => void;
  /** Of the output that takes these lines. */
  readonly auditFails?: () => boolean;
  /** Which events are written. Absent: all. */
  readonly keeps?: (type: AuditType) => boolean;
  /** Which contents events hold. Absent: none. */
  readonly data?: () => AuditData;
}

export interface Recorder {
  /** What a configuration wants kept of a request. */
  recordAs(config: RunConfig): (recorded: RecordedCall) => void;
  /** A line of the audit that no request is about. */
  readonly write: (line: string) => void;
  /** True while audit events cannot be written. */
  fails(): boolean;
  /** Writes the events that wait. */
  close(): Promise<void>;
}

export function openRecorder(options: RecorderOptions): Recorder {
  const { metrics, logger, writeAudit, auditFails, keeps = keepAll, data } = options;
  let lines: LineOutput | undefined;
  const gathered = gatherLines((text) => {
    lines ??= openLineOutput(1, logger);
    lines.write(text);
  });
  const write = writeAudit ?? gathered.write;
  return {
    write,
    recordAs(config) {
      const recorders: Recorders = {
        audit: auditTrail(config, { write, keeps, data }),
        metrics,
        log: logger,
        server: config.name,
        transport: config.transport,
        network: config.transport === 'stdio' ? 'pipe' : 'tcp',
        legacyAttributes: config.telemetry_config?.use_legacy_attributes === true,
      };
      return (recorded) => recordCall(recorders, recorded);
    },
    fails: () => (writeAudit === undefined ? lines?.fails() : auditFails?.()) ?? false,
    async close() {
      gathered.flush();
      await lines?.close();
    },
  };
}

function keepAll(): boolean {
  return true;
}

function auditTrail(
  { audit_config: audit }: RunConfig,
  {
    write,
    keeps,
    data,
  }: Required<Pick<RecorderOptions, 'keeps'>> & Pick<RecorderOptions, 'data'> & Pick<Recorder, 'write'>,
): AuditTrail | undefined {
  if (!audit.enabled) return undefined;
  return {
    component: audit.component,
    write(event) {
      if (keeps(event.type)) write(`${auditLine(event)}\n`);
    },
    data,
    newId: randomUUID,
    now: proxyClock.now,
  };
}

const GATHERED_MAX = 64;
const GATHER_MS = 20;

/** Lines that come together are written together: a write costs as much as all else about a line. */
function gatherLines(write: (text: string) => void): { write(line: string): void; flush(): void } {
  let lines: string[] = [];
  function flush(): void {
    const text = lines.join('');
    lines = [];
    if (text !== '') write(text);
  }
  return {
    flush,
    write(line) {
      if (lines.length === 0) proxyClock.after(GATHER_MS, flush);
      if (lines.push(line) >= GATHERED_MAX) flush();
    },
  };
}

/** Writes each reason to the log once, as long as it stays the same. */
export function reportReadiness(logger: Logger): (reason: string | undefined) => void {
  return (reason) => {
    if (reason === undefined) logger.info('the MCP server answers: the proxy is ready');
    else logger.warn({ reason }, 'the proxy is not ready');
  };
}

/** Says in the log what an exception broke that no code caught. */
export function reportBroken(logger: Logger): (error: unknown) => void {
  return (error) => logger.error({ err: error, code: 'proxy-internal' }, 'a request broke, and was ended');
}
