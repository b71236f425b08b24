// Opens the metrics, the telemetry, the audit log and the tools locks of a virtual server.

import type { Logger } from 'pino';
import type { RunConfig } from '#contracts/run-config.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { BackendObserver } from '#gateway/backends/sessions/observer.ts';
import type { Environment } from '#std/environment.ts';
import { openRecorder } from '../proxy/record.ts';
import { openProxyMetrics, openProxyTelemetry } from '../proxy/telemetry.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { openVirtualAudit } from './audit.ts';
import { openMemberLocks } from './member-locks.ts';

export interface ObservationOptions {
  readonly config: VmcpConfig;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  readonly writeAudit?: (line: string) => void;
}

export async function openObservation(options: ObservationOptions, gate: RunConfig, closing: (() => unknown)[]) {
  const { config, environment, files, logger } = options;
  const { proxy: metrics, ...numbers } = openProxyMetrics(gate);
  closing.push(numbers.stop);
  const telemetry = await openProxyTelemetry({
    ...{ config: gate, environment, files, logger },
    read: numbers.read,
    serviceVersion: config.telemetry?.serviceVersion,
  });
  closing.push(() => telemetry?.close());
  const audit = openVirtualAudit(config, logger, options.writeAudit);
  const { keeps, data, write: writeAudit, fails: auditFails } = audit;
  const recorder = openRecorder({ metrics, logger, writeAudit, auditFails, keeps, data });
  closing.push(audit.close, recorder.close);
  const observer: BackendObserver = {
    dropped: metrics.dropped,
    log: (level, message) => logger[level]({ part: 'backend' }, message),
  };
  const locks = openMemberLocks({ environment, logger, metrics, audit: { ...audit, write: recorder.write } });
  closing.push(locks.stop);
  return { metrics, numbers, telemetry, audit, recorder, observer, locks };
}
