// Reads the configuration of a running proxy again at intervals, and puts those changes in force that do not require a
// new process.

import type { Logger } from 'pino';
import { followed } from '#contracts/key-readings.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { keysForRestart, RUN_CONFIG_KEYS } from '#contracts/run-config-keys.ts';
import type { ProxyClock } from '#gateway/proxy/ports.ts';
import { Failure } from '#std/failure.ts';

export interface ReloadOptions {
  /** The configuration with which the proxy was started. */
  readonly config: RunConfig;
  /** Returns the current configuration of the file; throws a Failure if it cannot be used. */
  readonly read: () => RunConfig;
  /** Puts the configuration and the files that it names in force. If it throws a Failure, nothing has changed. */
  readonly use: (config: RunConfig) => void;
  readonly logger: Logger;
  readonly clock: Pick<ProxyClock, 'every'>;
}

const LOOK_MS = 2000;

/**
 * Returns the function that ends the watch. A configuration that cannot be used is logged once, and the last good
 * settings stay.
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
      // `read` returns the same value as long as nothing has changed: then no part is created again.
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
