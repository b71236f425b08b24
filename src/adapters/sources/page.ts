// One answer of a registry's API, as far as following it needs: what it is, where the next page is, how new its entries are.
// Whether the entries are valid is checked elsewhere.

import type { SourceFormat } from '#contracts/registry/source.ts';
import { isObject, type Json, parseJson } from '#std/json.ts';

export interface Page {
  /** Undefined: neither; the reader of the format says what is wrong. */
  readonly format: SourceFormat | undefined;
  readonly nextCursor: string | undefined;
  /** `updatedAt` of each entry, milliseconds since 1970; NaN where an entry does not tell. */
  readonly updatedAt: readonly number[];
}

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const NOTHING: Page = { format: undefined, nextCursor: undefined, updatedAt: [] };

export function readPage(text: string): Page {
  const root = parseJson(text);
  if (!isObject(root)) return NOTHING;
  if (isObject(root.servers)) return { ...NOTHING, format: 'toolhive' };
  if (isObject(root.data) && Array.isArray(root.data.servers)) return { ...NOTHING, format: 'upstream' };
  if (!Array.isArray(root.servers)) return NOTHING;
  const cursor = isObject(root.metadata) ? root.metadata.nextCursor : undefined;
  return {
    format: 'upstream',
    nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined,
    updatedAt: root.servers.map(updatedAt),
  };
}

function updatedAt(item: Json): number {
  const meta = isObject(item) ? item._meta : undefined;
  const official = isObject(meta) ? meta[OFFICIAL] : undefined;
  const time = isObject(official) ? official.updatedAt : undefined;
  return typeof time === 'string' ? Date.parse(time) : Number.NaN;
}
