// Defines the fields of `spec.databaseConfig`.

import { DATABASE } from '#contracts/database-fields.ts';
import { object } from '#std/schema.ts';
import { secretKeySelector } from '../selectors.ts';

/** PostgreSQL, with two users: one may change the schema, the other may not. */
export const Database = object(
  {
    ...DATABASE,
    dbAppUserPasswordSecretRef: secretKeySelector('Password of user.'),
    dbMigrationUserPasswordSecretRef: secretKeySelector('Password of migrationUser.'),
  },
  'PostgreSQL database of the catalogue.',
);
