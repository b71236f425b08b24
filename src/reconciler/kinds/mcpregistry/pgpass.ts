// Renders the password file of a registry's database from the two Secrets with the passwords. Source: the PostgreSQL
// manual, libpq, "The Password File".

import { findPassword } from '#contracts/pgpass.ts';
import { secretBytes } from '#kubernetes/rules/content.ts';
import type { Finding, KindSettings, View } from '../kind.ts';
import type { Database, EffectiveRegistry, PasswordRef } from './facts.ts';

/** Returns the Secrets with the passwords, or the Secret with the password file that the author or skep.yaml names. */
export function passwordRefs(
  { spec: { databaseConfig } }: EffectiveRegistry,
  { catalogueDatabase }: Pick<KindSettings, 'catalogueDatabase'>,
): readonly PasswordRef[] {
  const named = catalogueDatabase?.services?.passFileSecret;
  if (databaseConfig === undefined) return named === undefined ? [] : [named];
  const { passwords } = databaseConfig;
  return 'file' in passwords ? [passwords.file] : [passwords.app, passwords.migration];
}

/** Returns one line for each user; undefined if a password is missing, or if the author provides the password file. */
export function passwordFile({ settings, passwords }: Database, view: View): string | undefined {
  if ('file' in passwords) return undefined;
  const { host, port, database: name, user, migrationUser } = settings;
  const users = [
    { user, password: secretText(view, passwords.app) },
    { user: migrationUser, password: secretText(view, passwords.migration) },
  ];
  const lines = users.map(({ user, password }) =>
    password === undefined ? undefined : [host, String(port), name, user, password].map(escaped).join(':'),
  );
  return lines.includes(undefined) ? undefined : `${lines.join('\n')}\n`;
}

/** Finds passwords that are missing or that the password file cannot contain. The messages do not contain passwords. */
export function passwordFindings(database: Database | undefined, view: View): readonly Finding[] {
  if (database === undefined) return [];
  const { settings, passwords } = database;
  if ('file' in passwords) return fileFindings(settings, passwords.file, view);
  return (['app', 'migration'] as const).flatMap((whose): Finding[] => {
    const { name, key } = passwords[whose];
    const password = secretText(view, passwords[whose]);
    const pointer = `/spec/databaseConfig/${PASSWORD_FIELDS[whose]}`;
    if (password === undefined) {
      return [{ ...FAULT, pointer, message: `Secret ${name} has no text under the key ${key}` }];
    }
    if (!/[\r\n]/.test(password)) return [];
    return [{ ...FAULT, pointer, message: `Secret ${name}, key ${key}: a password cannot contain a line break` }];
  });
}

export const PASSWORD_FIELDS = {
  app: 'dbAppUserPasswordSecretRef',
  migration: 'dbMigrationUserPasswordSecretRef',
} as const;

function fileFindings(settings: Database['settings'], file: PasswordRef, view: View): readonly Finding[] {
  const { host, port, database, user, migrationUser } = settings;
  const text = secretText(view, file) ?? '';
  const pointer = '/spec/pgpassSecretRef';
  return [...new Set([user, migrationUser])].flatMap((each): Finding[] => {
    if (findPassword(text, { host, port, database, user: each }) !== undefined) return [];
    const message = `Secret ${file.name}, key ${file.key}: no line is for user ${each} of database ${database} at ${host}:${port}`;
    return [{ ...FAULT, pointer, message }];
  });
}

const FAULT = { code: 'database-password-unusable', severity: 'error' } as const;

function escaped(field: string): string {
  return field.replaceAll('\\', '\\\\').replaceAll(':', '\\:');
}

/** Returns a Secret's value as text without the final line break, which editors add. */
function secretText(view: View, { name, key }: PasswordRef): string | undefined {
  return secretBytes(view.find('Secret', name), key)
    ?.toString('utf8')
    .replace(/\r?\n$/, '');
}
