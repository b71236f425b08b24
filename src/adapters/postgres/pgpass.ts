// Reads PostgreSQL's password file: one `host:port:database:user:password` a line. Source: the PostgreSQL manual,
// libpq, "The Password File".

import { readFile, stat } from 'node:fs/promises';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';

export interface PasswordFor {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** The password of the first line that matches; undefined if none does. */
export function findPassword(text: string, wanted: PasswordFor): string | undefined {
  const own = [wanted.host, String(wanted.port), wanted.database, wanted.user];
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue;
    const { fields, rest } = splitLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (fields.length === 4 && fields.every((field, index) => field === WILDCARD || field === own[index])) return rest;
  }
  return undefined;
}

/** Stands for a field that is a bare `*`; an escaped one is the character. */
const WILDCARD = Symbol('*');

/** Returns up to four fields and the rest; a backslash makes the next character literal. */
function splitLine(line: string): { fields: (string | typeof WILDCARD)[]; rest: string } {
  const fields: (string | typeof WILDCARD)[] = [];
  let field = '';
  let start = 0;
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at];
    if (char === '\\' && at + 1 < line.length) {
      at += 1;
      field += line[at];
    } else if (char === ':' && fields.length < 4) {
      fields.push(line.slice(start, at) === '*' ? WILDCARD : field);
      field = '';
      start = at + 1;
    } else field += char;
  }
  return { fields, rest: field };
}

/** Exported for tests: not every user may give files to root. */
export function isOpen({ mode, uid }: { readonly mode: number; readonly uid: number }): boolean {
  return (mode & (uid === 0 ? 0o037 : 0o077)) !== 0;
}

/**
 * Reads the file again at each connection, because mounted secrets rotate. A file that others may read is refused; a
 * file of root may be read by its group, too: Secrets are mounted in this way, and libpq allows it for keys (the
 * PostgreSQL manual, libpq, "sslkey"). Throws Failure `database-passfile-unreadable`.
 */
export async function readPassword(file: string, wanted: PasswordFor): Promise<string | undefined> {
  try {
    if (process.platform !== 'win32' && isOpen(await stat(file))) {
      const message = `password file ${file} is open to other users: its mode must be 0600, or stricter, or 0640 if it is root's`;
      throw new Failure('database-passfile-unreadable', message, { data: { file } });
    }
    return findPassword(textOfFile(await readFile(file), file, 'database-passfile-unreadable'), wanted);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('database-passfile-unreadable', `password file ${file} cannot be read`, {
      data: { file },
      cause,
    });
  }
}
