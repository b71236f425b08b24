// Defines the fields of `spec.databaseConfig`.

import { DATABASE } from '#contracts/database-fields.ts';
import { object } from '#std/schema.ts';
import { secretKeySelector } from '../selectors.ts';

/** PostgreSQL settings with two users. Only the migration user may change the database schema. */
export const Database = object(
  {
    ...DATABASE,
    dbAppUserPasswordSecretRef: secretKeySelector('Password of user.'),
    dbMigrationUserPasswordSecretRef: secretKeySelector('Password of migrationUser.'),
  },
  'PostgreSQL database of the catalogue.',
);
