// Reads large numbers of rows with prepared statements. Values are returned as text.

import type pg from 'pg';

/** Values as text, because parsing each value would cost more than reading it from the database. */
export type RawRow = readonly (string | null)[];

const RAW = { getTypeParser: () => (text: string) => text };

/**
 * Reads rows with a prepared statement, which the server plans once per connection. `name` must be unique per statement
 * text. If undefined, the statement is not prepared.
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
 * True if a version is its server's latest: the latest live version. If all versions are deleted, the version that was
 * latest before.
 */
export const IS_LATEST = "(e.is_latest or (e.was_latest and e.status = 'deleted'))";

/** Returns SQL for milliseconds since 1970, which `timeFrom` parses. */
export function milliseconds(column: string): string {
  return `extract(epoch from ${column}) * 1000`;
}

/** Converts milliseconds since 1970 to RFC 3339 in UTC. */
export function timeFrom(epochMs: string): string {
  return new Date(Number(epochMs)).toISOString();
}

/** Returns a function that parses each distinct text once, because rows contain few distinct lists and times. */
export function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const value = known.get(text) ?? read(text);
    known.set(text, value);
    return value;
  };
}
