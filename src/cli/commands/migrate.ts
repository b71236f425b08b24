// `skep migrate`: migrates the database schema, or shows its state.

import { Command } from 'commander';
import { readServeConfig } from '#hosts/registry/serve.ts';

interface Options {
  readonly config: string;
}

export function migrateCommand(): Command {
  const command = new Command('migrate').description(
    'Migrate the database schema of a registry, with the migration user.',
  );
  const file = ['-c, --config <file>', 'configuration file of the registry service', 'registry.yaml'] as const;
  command
    .command('up')
    .description('Apply pending migrations.')
    .option(...file)
    .action(async ({ config }: Options) => {
      const { address, appUser, migrate } = await open(config);
      const applied = await migrate(address, { appUser });
      process.stdout.write(
        applied.length === 0 ? 'nothing to apply\n' : applied.map((name) => `applied ${name}\n`).join(''),
      );
    });
  command
    .command('status')
    .description('List the migrations, and which of them are applied.')
    .option(...file)
    .action(async ({ config }: Options) => {
      const { address, migrationStatus } = await open(config);
      for (const { state, name, appliedAt = '' } of await migrationStatus(address)) {
        process.stdout.write(`${`${state.padEnd(8)} ${name} ${appliedAt}`.trimEnd()}\n`);
      }
    });
  return command.addHelpText('after', '\nExample:\n  skep migrate up -c /config/config.yaml');
}

async function open(file: string) {
  const { database } = await readServeConfig(file);
  const [{ migrate, readMigrationStatus: migrationStatus }, { withFiles }] = await Promise.all([
    import('#adapters/postgres/migrate.ts'),
    import('#hosts/database.ts'),
  ]);
  const address = withFiles({ ...database, user: database.migrationUser });
  return { address, appUser: database.user, migrate, migrationStatus };
}
