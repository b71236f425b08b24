// Writes the definitions that differ from the tools lock into a ConfigMap, which the reconciler and `skep lock` read.

import type { Logger } from 'pino';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import type { HeldLock } from '#contracts/tool-lock/held.ts';
import {
  formatLockReport,
  hasSameLocks,
  type LockReport,
  lockDigest,
  type ReportedDrift,
} from '#contracts/tool-lock/report.ts';
import { LOCKED_LIST_NAMES } from '#contracts/tool-lock/schema.ts';
import type { Drifts } from '#gateway/gate/tools-lock/drifts.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../clock.ts';
import { VERSION } from '../version.ts';
import { proxyClock } from './clock.ts';
import { createSpacedTask } from './spaced-task.ts';

export interface LockReporter {
  /** Requests that the report is written soon. */
  changed(config: RunConfig, drifts: Drifts): void;
  stop(): Promise<void>;
}

/** Report and the name of its ConfigMap. */
export interface WrittenReport {
  readonly name: string;
  readonly namespace: string;
  readonly data: Record<string, string>;
}

interface WriterOptions {
  readonly environment: Environment;
  readonly logger: Logger;
  /** Milliseconds between two checks of the ConfigMap. */
  readonly lookMs?: number;
}

/** Delay before a write. Changes during this time are written together. */
const SOON_MS = 1000;
/** Minimum time between two writes, so that a server with ever-changing definitions does not flood the API server. */
const BETWEEN_MS = 10_000;
const TIMEOUT_MS = 10_000;
/**
 * Time between two checks of the ConfigMap. A user may delete the ConfigMap, or a stopping replica may replace the
 * report by a report about an earlier lock.
 */
const LOOK_MS = 60_000;

export function openLockReporter(options: WriterOptions): LockReporter {
  let latest: { readonly config: RunConfig; readonly drifts: Drifts } | undefined;

  const writer = openReportWriter(options, () => {
    const { config, drifts } = latest ?? {};
    const lock = config?.tools_lock;
    if (config === undefined || lock?.report_to === undefined || drifts?.isRead() !== true) return undefined;
    return { name: lock.report_to, namespace: config.namespace, data: formatLockReport(reportOf(lock, drifts)) };
  });
  return {
    changed(config, drifts) {
      latest = { config, drifts };
      if (config.tools_lock?.report_to !== undefined && drifts.isRead()) writer.request();
    },
    stop: writer.stop,
  };
}

/** Returns a report of the definitions that currently differ from the lock. */
export function reportOf(lock: HeldLock, drifts: Drifts): LockReport {
  const at = new Date(proxyClock.now()).toISOString();
  return { lock: lockDigest(lock), at, drifts: drifts.all().flatMap(reportable) };
}

/**
 * Returns a writer that writes the report soon after each request, and again if the report is no longer in its
 * ConfigMap. `read` returns undefined if there is no report to write.
 */
export function openReportWriter(
  { environment, logger, lookMs = LOOK_MS }: WriterOptions,
  read: () => WrittenReport | undefined,
): { request(): void; stop(): Promise<void> } {
  let cluster: ConnectedCluster | undefined;
  let reported = '';
  let isWritten = false;

  async function connect(): Promise<ConnectedCluster> {
    cluster ??= await connectCluster({
      usual: environment.KUBECONFIG,
      fieldManager: 'skep-proxy',
      concurrency: 1,
      version: VERSION,
      clock: systemClock,
      timeoutMs: TIMEOUT_MS,
    });
    return cluster;
  }

  async function write(): Promise<void> {
    const report = read();
    if (report === undefined) return;
    const { name, namespace, data } = report;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
    await (await connect()).apply(object, { force: true });
    reported = '';
    isWritten = true;
  }

  /**
   * Writes again if the report is no longer in its ConfigMap. Another replica's report about the same lock stays,
   * because the server may show that replica other definitions.
   */
  async function look(): Promise<void> {
    const report = read();
    if (report === undefined || !isWritten) return;
    const { name, namespace, data } = report;
    try {
      const live = await (await connect()).get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name });
      if (!hasSameLocks(data, live?.data)) writing.request();
    } catch (error) {
      // The next check reads again.
      if (!(error instanceof Failure)) throw error;
    }
  }

  /** Returns true if the write failed and must be repeated. */
  async function tryToWrite(): Promise<boolean> {
    try {
      await write();
      return false;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (reported !== error.message)
        logger.warn(
          { code: error.code },
          `the definitions that differ from the lock are not reported: ${error.message}`,
        );
      reported = error.message;
      return true;
    }
  }

  const writing = createSpacedTask({ clock: proxyClock, soonMs: SOON_MS, betweenMs: BETWEEN_MS, run: tryToWrite });

  let looking: Promise<void> = Promise.resolve();
  const stopLooking = proxyClock.every(lookMs, () => {
    looking = looking.then(look);
  });

  return {
    request: writing.request,
    async stop() {
      stopLooking();
      await looking;
      await writing.stop();
      await cluster?.close();
    },
  };
}

function reportable({ list, ...drift }: ReturnType<Drifts['all']>[number]): readonly ReportedDrift[] {
  const known = LOCKED_LIST_NAMES.find((each) => each === list);
  return known === undefined ? [] : [{ list: known, ...drift }];
}
