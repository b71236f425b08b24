// Reads a registry file in the official format. The file is the wrapper `{meta, data: {servers}}` around server.json
// documents, or the response of an official registry, `{servers: [{server, _meta}], metadata}`. Documents stay
// unchanged.

import { isObject, type Json, pointerToken } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import type { CatalogueEntry } from '../entry.ts';
import { extract, oversized } from '../entry.ts';
import {
  type Item,
  itemsAt,
  type JsonDocument,
  type Mistake,
  member,
  type ParsedDocument,
  type ReadResult,
  readEntries,
  wrongShape,
} from './document.ts';
import { checkOfficialMeta, checkServerJson, type SchemaResult } from './schema.ts';

const OFFICIAL = 'io.modelcontextprotocol.registry/official';

/** Reads the document. If `extent` is `page`, the document is one of several pages. */
export function parseUpstream(document: JsonDocument, extent: 'whole' | 'page'): ParsedDocument {
  const found = findServers(document, extent);
  if ('problem' in found) return { ok: false, problem: found.problem };
  const items = itemsAt(document, found.pointer, found.servers).map((item) => ({ item }));
  return { ok: true, ...readEntries(document, items, readServer, declaredName), groups: [] };
}

function declaredName({ value }: Item): string | undefined {
  const name = member(serverOf(value).server, 'name');
  return typeof name === 'string' ? name : undefined;
}

function findServers(
  document: JsonDocument,
  extent: 'whole' | 'page',
): { pointer: string; servers: Json[] } | { problem: Problem } {
  const { root } = document;
  if (!isObject(root)) return { problem: wrongShape(document, '', 'a registry file is a JSON object') };
  const wrapped = member(root.data, 'servers');
  if (Array.isArray(wrapped)) return { pointer: '/data/servers', servers: wrapped };
  const { servers } = root;
  if (isObject(servers)) {
    return { problem: wrongShape(document, '', 'this is a registry file of the format "toolhive", not "upstream"') };
  }
  if (!Array.isArray(servers)) {
    return { problem: wrongShape(document, '', 'a registry file has a list "data.servers" or "servers"') };
  }
  // If a page counted as the whole list, the servers of the other pages would be deleted.
  const cursor = member(root.metadata, 'nextCursor');
  if (extent === 'whole' && typeof cursor === 'string' && cursor !== '') {
    const message = 'this is one page of a longer list: it names a next page';
    return { problem: wrongShape(document, '/metadata/nextCursor', message) };
  }
  return { pointer: '/servers', servers };
}

function readServer({ item: { value, valueLength } }: { readonly item: Item }): ReadResult {
  const { server, official, pointer } = serverOf(value);
  const checked = checkServerJson(server);
  const meta = readOfficial(official ?? {});
  const mistakes = [
    ...('mistakes' in checked ? prefixPointers(pointer, checked.mistakes) : []),
    ...('mistakes' in meta ? prefixPointers(`/_meta/${pointerToken(OFFICIAL)}`, meta.mistakes) : []),
  ];
  if ('mistakes' in checked || 'mistakes' in meta || !isObject(server)) return { mistakes };
  const tooLarge = oversized(server, valueLength);
  if (tooLarge !== undefined) return { mistakes: [tooLarge] };
  const { name, version } = checked.value;
  return { entry: { name, version, document: server, ...extract(server), ...meta.value } };
}

/** Returns the server.json of an item: its member `server`, or the item itself. */
function serverOf(value: Json): { server: Json; official: Json | undefined; pointer: string } {
  const server = member(value, 'server');
  if (server === undefined) return { server: value, official: undefined, pointer: '' };
  return { server, official: member(member(value, '_meta'), OFFICIAL), pointer: '/server' };
}

function prefixPointers(pointer: string, mistakes: readonly Mistake[]): Mistake[] {
  return mistakes.map((mistake) => ({ ...mistake, pointer: pointer + mistake.pointer }));
}

/** Reads the official status, which has precedence over the status in the document. */
function readOfficial(meta: Json): SchemaResult<Partial<CatalogueEntry>> {
  const checked = checkOfficialMeta(meta);
  if ('mistakes' in checked) return checked;
  const { status, statusMessage, isLatest } = checked.value;
  const [published, statusChanged] = [checked.value.publishedAt, checked.value.statusChangedAt].map(utc);
  const mistakes = [
    ...(published === null ? [{ pointer: '/publishedAt', message: NO_TIME }] : []),
    ...(statusChanged === null ? [{ pointer: '/statusChangedAt', message: NO_TIME }] : []),
  ];
  if (published === null || statusChanged === null) return { mistakes };
  return {
    value: {
      ...(status === undefined ? {} : { status }),
      ...(statusMessage === undefined ? {} : { statusMessage }),
      ...(statusChanged === undefined ? {} : { statusChangedAt: statusChanged }),
      ...(published === undefined ? {} : { publishedAt: published }),
      ...(isLatest === undefined ? {} : { isLatest }),
    },
  };
}

const NO_TIME = 'must be an RFC 3339 time';

/** Returns the time as RFC 3339 in UTC. Returns null if the text is not an RFC 3339 time. */
function utc(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text)) return null;
  const time = Date.parse(text.toUpperCase());
  const iso = Number.isNaN(time) ? '' : new Date(time).toISOString();
  // An offset can shift a time beyond the years 0000 to 9999, and PostgreSQL has no year 0.
  return /^\d{4}-/.test(iso) && !iso.startsWith('0000') ? iso : null;
}
