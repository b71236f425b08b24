// Formats the JSON for clients: stored documents, unchanged, with the metadata of the registry.

import type { StoredEntry } from '../catalogue/entry.ts';

export const OFFICIAL_META = 'io.modelcontextprotocol.registry/official';

/** Returns the ServerResponse of an entry. */
export function serverResponse(entry: StoredEntry): string {
  const { document, status, statusMessage, statusChangedAt, publishedAt, updatedAt, isLatest } = entry;
  const message = statusMessage === undefined ? {} : { statusMessage };
  const official = { status, ...message, statusChangedAt, publishedAt, updatedAt, isLatest };
  return `{"server":${document},"_meta":${JSON.stringify({ [OFFICIAL_META]: official })}}`;
}

/** Returns the ServerList of a page. `nextCursor` is absent on the last page. */
export function serverList(entries: readonly StoredEntry[], nextCursor?: string): string {
  const metadata = { count: entries.length, nextCursor };
  return `{"servers":[${entries.map(serverResponse).join(',')}],"metadata":${JSON.stringify(metadata)}}`;
}
