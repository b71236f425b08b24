// Reads passwords from PostgreSQL's password file. Refuses a file that other users may read. Source: the PostgreSQL
// manual, libpq, "The Password File".

import { readFile, stat } from 'node:fs/promises';
import { findPassword, type PasswordFor } from '#contracts/pgpass.ts';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';

/**
 * True if users other than the owner may access the file. If root owns the file, its group may read it. Exported for
 * tests, because only root can create files of root.
 */
export function isOpen({ mode, uid }: { readonly mode: number; readonly uid: number }): boolean {
  return (mode & (uid === 0 ? 0o037 : 0o077)) !== 0;
}

/**
 * Returns the password for a connection. Reads the file for each connection, because mounted Secrets rotate. A file
 * that other users may read is refused. If root owns the file, its group may read it, because Kubernetes mounts Secrets
 * with this owner and group. libpq has the same exception for keys (the PostgreSQL manual, libpq, "sslkey"). Throws
 * Failure `database-passfile-unreadable`.
 */
export async function readPassword(file: string, connection: PasswordFor): Promise<string | undefined> {
  try {
    if (process.platform !== 'win32' && isOpen(await stat(file))) {
      const message = `password file ${file} is open to other users: its mode must be 0600, or stricter, or 0640 if it is root's`;
      throw new Failure('database-passfile-unreadable', message, { data: { file } });
    }
    return findPassword(textOfFile(await readFile(file), file, 'database-passfile-unreadable'), connection);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('database-passfile-unreadable', `password file ${file} cannot be read`, {
      data: { file },
      cause,
    });
  }
}
