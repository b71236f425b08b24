// Encodes and decodes the cursors of listings. A cursor is valid only for its registry and filters.

import { digest } from '#std/hash.ts';
import { parseJson } from '#std/json.ts';

/** Parameters that decide which entries a listing has. The page size is not such a parameter. */
export interface Filters {
  readonly registry: string;
  readonly search?: string;
  readonly version?: string;
  readonly updatedSince?: string;
  readonly includeDeleted: boolean;
  readonly tags?: readonly string[];
  readonly tiers?: readonly string[];
  readonly statuses?: readonly string[];
  readonly transports?: readonly string[];
  readonly sort?: string;
}

export interface Position {
  readonly name: string;
  readonly version: string;
  /** In a sorted listing, the value by which the entry was sorted. A sync may have changed the value since. */
  readonly rank?: number;
}

const FORMAT = 1;
/** Enough for the longest name and version, even if JSON escapes each character with six characters. */
const CURSOR_LENGTH_MAX = 4096;

/** Returns the cursor for the entries after a position. */
export function encodeCursor({ name, version, rank }: Position, filters: Filters): string {
  const parts = [FORMAT, binding(filters), name, version, ...(rank === undefined ? [] : [rank])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Returns undefined if the text is not a cursor of this format, or is bound to another listing. */
export function decodeCursor(text: string, filters: Filters): Position | undefined {
  if (text.length > CURSOR_LENGTH_MAX || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  const parsed = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
  if (!Array.isArray(parsed) || parsed.length !== (filters.sort === undefined ? 4 : 5)) return undefined;
  const [format, bound, name, version, rank] = parsed;
  if (format !== FORMAT || bound !== binding(filters)) return undefined;
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  if (filters.sort === undefined) return { name, version };
  return typeof rank === 'number' ? { name, version, rank } : undefined;
}

function binding(filters: Filters): string {
  return digest(filters).slice(0, 16);
}
