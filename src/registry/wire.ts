// The shapes that clients read (registry.md 6.2): the stored document verbatim, wrapped in what the registry knows of it.

import type { StoredEntry } from '../catalogue/ports.ts';
import type { JsonObject } from '../std/json.ts';

export const OFFICIAL_META = 'io.modelcontextprotocol.registry/official';

/** registry.md 6.2. */
export interface ServerResponse {
  /** The server.json as its source has it. */
  readonly server: JsonObject;
  readonly _meta: {
    readonly [OFFICIAL_META]: {
      readonly status: StoredEntry['status'];
      readonly statusMessage?: string;
      /** RFC 3339. */
      readonly statusChangedAt: string;
      /** RFC 3339. */
      readonly publishedAt: string;
      /** RFC 3339. */
      readonly updatedAt: string;
      readonly isLatest: boolean;
    };
  };
}

/** registry.md 6.2. */
export interface ServerList {
  readonly servers: readonly ServerResponse[];
  readonly metadata: {
    /** Number of servers in this answer. */
    readonly count: number;
    /** Absent on the last page. */
    readonly nextCursor?: string;
  };
}

/** One entry as it is served. */
export function serverResponse(entry: StoredEntry): ServerResponse {
  const { document, status, statusMessage, statusChangedAt, publishedAt, updatedAt, isLatest } = entry;
  const message = statusMessage === undefined ? {} : { statusMessage };
  const official = { status, ...message, statusChangedAt, publishedAt, updatedAt, isLatest };
  return { server: document, _meta: { [OFFICIAL_META]: official } };
}

/** A page; `nextCursor` where there are more. */
export function serverList(entries: readonly StoredEntry[], nextCursor?: string): ServerList {
  return {
    servers: entries.map(serverResponse),
    metadata: { count: entries.length, ...(nextCursor === undefined ? {} : { nextCursor }) },
  };
}
