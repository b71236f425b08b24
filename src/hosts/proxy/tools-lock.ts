// Opens the tools lock of a proxy, and reports definitions that differ from the reviewed definitions.

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { RunConfig } from '#contracts/run-config.ts';
import { LOCKED_LIST_NAMES } from '#contracts/tool-lock/schema.ts';
import { auditLine } from '#gateway/gate/audit.ts';
import { driftAuditEvent } from '#gateway/gate/audit-drift.ts';
import { createDrifts, type Drifted, type Drifts } from '#gateway/gate/tools-lock/drifts.ts';
import { createLockKeeper, type LockKeeper } from '#gateway/gate/tools-lock/keeper.ts';
import { openLock } from '#gateway/gate/tools-lock/lock.ts';
import type { ProxyMetrics } from '#gateway/proxy/metrics.ts';
import { proxyClock } from './clock.ts';
import type { Recorder } from './record.ts';

export interface ProxyLock {
  /** Returns the keeper of the current lock; undefined if the configuration has no lock. */
  current(): LockKeeper | undefined;
  /**
   * Returns the keeper of the configuration's lock; undefined if it has none. The keeper stays the same while the lock
   * is unchanged.
   */
  keeperOf(config: RunConfig): LockKeeper | undefined;
}

export interface ProxyLockOptions {
  readonly logger: Logger;
  readonly metrics: Pick<ProxyMetrics, 'drifted'>;
  readonly recorder: Pick<Recorder, 'write'>;
  /** Receives the differences when the tools lock changes, and when a definition begins or ceases to differ from it. */
  readonly changed: (config: RunConfig, drifts: Drifts) => void;
}

export function openProxyLock(options: ProxyLockOptions): ProxyLock {
  const { metrics, changed } = options;
  let text = '';
  let keeper: LockKeeper | undefined;
  let current: Drifts | undefined;

  function openKeeper(config: RunConfig, held: NonNullable<RunConfig['tools_lock']>): LockKeeper {
    const report = reporter(options, config);
    const drifts = createDrifts({
      drifted: report,
      changed() {
        // Ignores a reading that began under an earlier lock.
        if (drifts !== current) return;
        countDrifts(metrics, drifts);
        changed(config, drifts);
      },
    });
    current = drifts;
    countDrifts(metrics, drifts);
    changed(config, drifts);
    return createLockKeeper(openLock(held), { clock: proxyClock, ...drifts });
  }

  /** Reports that no definition differs, because the configuration no longer has a lock. */
  function closeKeeper(config: RunConfig): undefined {
    current = createDrifts({ drifted: nothing, changed: nothing });
    countDrifts(metrics, current);
    changed(config, current);
  }

  return {
    current: () => keeper,
    keeperOf(config) {
      const { tools_lock: held } = config;
      const next = JSON.stringify(held) ?? '';
      if (next !== text) keeper = held === undefined ? closeKeeper(config) : openKeeper(config, held);
      text = next;
      return keeper;
    },
  };
}

const nothing = () => undefined;

function countDrifts(metrics: Pick<ProxyMetrics, 'drifted'>, drifts: Drifts): void {
  for (const list of LOCKED_LIST_NAMES) metrics.drifted(list, drifts.count(list));
}

const NAME_SHOWN = 200;

function reporter(
  { logger, recorder }: ProxyLockOptions,
  { audit_config: audit, tools_lock: lock }: RunConfig,
): (drift: Drifted) => void {
  const isHeld = lock?.mode === 'enforce';
  return ({ list, name, what }) => {
    const facts = { code: 'definition-drifted', list, name: name.slice(0, NAME_SHOWN), what };
    logger.warn(
      facts,
      `a definition of the MCP server differs from the reviewed one: it ${isHeld ? 'is held back' : 'passes'}`,
    );
    if (!audit.enabled) return;
    const { component } = audit;
    const event = driftAuditEvent({
      auditId: randomUUID(),
      timeMs: proxyClock.now(),
      component,
      list,
      name,
      what,
      isHeld,
    });
    recorder.write(`${auditLine(event)}\n`);
  };
}
