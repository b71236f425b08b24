// Finds a password in PostgreSQL's password file, whose lines have the form `host:port:database:user:password`. Source:
// the PostgreSQL manual, libpq, "The Password File".

export interface PasswordFor {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Returns the password of the first matching line; undefined if no line matches. */
export function findPassword(text: string, asked: PasswordFor): string | undefined {
  const own = [asked.host, String(asked.port), asked.database, asked.user];
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue;
    const { fields, rest } = splitLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (fields.length === 4 && fields.every((field, index) => field === WILDCARD || field === own[index])) return rest;
  }
  return undefined;
}

/** A field that is only `*`, which matches every value. The escaped text `\*` is not a wildcard. */
const WILDCARD = Symbol('*');

/** Returns up to four fields, and the text after them. A backslash escapes the next character. */
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
