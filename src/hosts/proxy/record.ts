// Records each request of a proxy: audit lines, metrics, spans and log records.

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
  /** Writes audit lines. If not set, the lines are written to standard output, from which clusters collect logs. */
  readonly writeAudit?: (line: string) => void;
  /** Returns true while lines of `writeAudit` cannot be written. */
  readonly auditFails?: () => boolean;
  /** Returns whether events of this type are written. If not set, all events are written. */
  readonly keeps?: (type: AuditType) => boolean;
  /** Returns which contents of calls events include. If not set, events include no contents. */
  readonly data?: () => AuditData;
}

export interface Recorder {
  /** Returns a function that records a request with the settings of the configuration. */
  recordAs(config: RunConfig): (recorded: RecordedCall) => void;
  /** Writes an audit line that belongs to no request. */
  readonly write: (line: string) => void;
  /** Returns true while audit lines cannot be written. */
  fails(): boolean;
  /** Writes the buffered lines. */
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

/** Joins lines within GATHER_MS into one write, because a write costs as much as all other work on a line. */
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

/** Returns a function that logs that the proxy is ready, or the reason why it is not ready. */
export function reportReadiness(logger: Logger): (reason: string | undefined) => void {
  return (reason) => {
    if (reason === undefined) logger.info('the MCP server answers: the proxy is ready');
    else logger.warn({ reason }, 'the proxy is not ready');
  };
}

/** Returns a function that logs an uncaught exception, which has ended a request. */
export function reportBroken(logger: Logger): (error: unknown) => void {
  return (error) =>
    logger.error({ err: error, code: 'proxy-internal' }, 'a request failed with an uncaught exception, and was ended');
}
