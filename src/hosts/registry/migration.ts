// Migrates the database schema of a registry service at its start, or as soon as the database responds. Replicas may do
// this at the same time.

import type { Logger } from 'pino';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import type { Clock } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { migrateAtStart } from '../database.ts';

export interface RunningMigration {
  stop(): Promise<void>;
}

const RETRY_MS = 5000;

/**
 * Resolves after the first attempt. Throws a Failure if the schema cannot be migrated: the service would serve wrong
 * results. If the database does not respond, tries again in the background.
 */
export async function startMigration(
  { database }: RegistryConfig,
  { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
): Promise<RunningMigration> {
  const stopping = new AbortController();
  async function attempt(): Promise<boolean> {
    try {
      const done = await migrateAtStart(database, { user: database.migrationUser });
      if (done instanceof Failure) {
        logger.warn(
          { code: done.code },
          `the schema of the database was not migrated, which is left to another process: ${done.message}`,
        );
      } else if (done.length > 0) logger.info({ applied: done }, 'the schema of the database was migrated');
      return true;
    } catch (failure) {
      if (!(failure instanceof Failure) || !failure.retryable) throw failure;
      logger.error({ code: failure.code }, `the schema of the database: ${failure.message}`);
      return false;
    }
  }
  async function keepTrying(): Promise<void> {
    do await clock.sleep(RETRY_MS, stopping.signal);
    while (!stopping.signal.aborted && !(await attempt()));
  }
  const trying = (await attempt()) ? Promise.resolve() : keepTrying();
  return {
    async stop() {
      stopping.abort();
      await trying;
    },
  };
}
