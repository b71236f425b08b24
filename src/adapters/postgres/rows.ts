// Reads large numbers of rows: prepared statements, and values as the server writes them.

import type pg from 'pg';

/** Values as text: parsing each would cost more than reading it from the database. */
export type RawRow = readonly (string | null)[];

const RAW = { getTypeParser: () => (text: string) => text };

/**
 * Reads rows with a prepared statement, which the server plans once per connection. `name` is unique for each text, or
 * undefined if the statement cannot be prepared.
 */
export async function readRows(
  client: pg.Client,
  name: string | undefined,
  text: string,
  values: readonly unknown[],
): Promise<readonly RawRow[]> {
  const query = { name: name && `skep ${name}`, text, values: [...values], rowMode: 'array' as const, types: RAW };
  const { rows } = await client.query<(string | null)[]>(query);
  return rows;
}

/**
 * Whether a version is the latest version of its server: the latest live version or, if all are deleted, the last
 * latest version.
 */
export const IS_LATEST = "(e.is_latest or (e.was_latest and e.status = 'deleted'))";

/** Returns SQL for milliseconds since 1970; `timeFrom` reads them. */
export function milliseconds(column: string): string {
  return `extract(epoch from ${column}) * 1000`;
}

/** Returns a time as RFC 3339 in UTC. */
export function timeFrom(epochMs: string): string {
  return new Date(Number(epochMs)).toISOString();
}

/** Returns a reader that parses each text once: there are far fewer different lists and times than rows. */
export function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const value = known.get(text) ?? read(text);
    known.set(text, value);
    return value;
  };
}
