// Defines the fields of `spec.databaseConfig`.

import { DATABASE } from '#contracts/database-fields.ts';
import { object } from '#std/schema.ts';
import { secretKeySelector } from '../selectors.ts';

/** Settings of PostgreSQL with two users, of which only the user for migrations may change the schema. */
export const Database = object(
  {
    ...DATABASE,
    dbAppUserPasswordSecretRef: secretKeySelector('Password of user.'),
    dbMigrationUserPasswordSecretRef: secretKeySelector('Password of migrationUser.'),
  },
  'PostgreSQL database of the catalogue.',
);
