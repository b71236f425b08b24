// Parses one page of a registry's API: its format, the cursor of the next page, and the times of its entries. Does not
// validate the entries.

import { FORMAT_OF_APIS, SOURCE_FORMATS, type SourceFormat } from '#contracts/registry/source.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#std/json.ts';

export interface Page {
  /** undefined if the format is unknown, which the caller reports. */
  readonly format: SourceFormat | undefined;
  readonly nextCursor: string | undefined;
  /** `updatedAt` of each entry in milliseconds since 1970. NaN if absent. */
  readonly updatedAt: readonly number[];
}

const OFFICIAL = 'io.modelcontextprotocol.registry/official';

/** Returns true if the response is a file in the format, not a page of a list. */
const IS_FILE: Readonly<Record<SourceFormat, (root: JsonObject) => boolean>> = {
  toolhive: ({ servers }) => isObject(servers),
  upstream: ({ data }) => isObject(data) && Array.isArray(data.servers),
};

const NOTHING: Page = { format: undefined, nextCursor: undefined, updatedAt: [] };

export function readPage(text: string): Page {
  const root = parseJson(text);
  if (!isObject(root)) return NOTHING;
  const format = SOURCE_FORMATS.find((each) => IS_FILE[each](root));
  if (format !== undefined) return { ...NOTHING, format };
  if (!Array.isArray(root.servers)) return NOTHING;
  const cursor = isObject(root.metadata) ? root.metadata.nextCursor : undefined;
  return {
    format: FORMAT_OF_APIS,
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
