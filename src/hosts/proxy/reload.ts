// Reads the configuration of a running proxy at intervals, and applies the changes that do not require a restart.

import type { Logger } from 'pino';
import { followed } from '#contracts/key-readings.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { keysForRestart, RUN_CONFIG_KEYS } from '#contracts/run-config-keys.ts';
import type { ProxyClock } from '#gateway/proxy/ports.ts';
import { Failure } from '#std/failure.ts';

export interface ReloadOptions {
  /** Configuration at the start of the proxy. */
  readonly config: RunConfig;
  /** Returns the configuration in the file. Throws a Failure if it cannot be used. */
  readonly read: () => RunConfig;
  /**
   * Applies the configuration and the files that it names. If `use` throws a Failure, the earlier settings stay in use.
   */
  readonly use: (config: RunConfig) => void;
  readonly logger: Logger;
  readonly clock: Pick<ProxyClock, 'every'>;
}

const LOOK_MS = 2000;

/**
 * Starts to read the file at intervals, and returns a function that stops this. An unusable configuration is logged
 * once, and the last valid settings stay in use.
 */
export function watchConfig({ config: started, read, use, logger, clock }: ReloadOptions): () => void {
  let seen = started;
  let running = started;
  let reported = '';

  function report(level: 'warn' | 'error', code: string, message: string): void {
    if (message !== reported) logger[level]({ code }, message);
    reported = message;
  }

  return clock.every(LOOK_MS, () => {
    try {
      const next = read();
      // `read` returns the same object if the file is unchanged. The parts of the proxy are then not created again.
      if (next !== seen) running = followed(RUN_CONFIG_KEYS, started, next);
      seen = next;
      use(running);
      const keys = keysForRestart(started, next);
      if (keys.length === 0) reported = '';
      else
        report(
          'warn',
          'proxy-restart-needed',
          `${keys.join(', ')} of the configuration is read only at the start: restart the process`,
        );
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      report('error', error.code, `${error.message}; the last good settings stay in force`);
    }
  });
}
