// An entry of the catalogue, and what is extracted from its server.json so that it can be found, compared and checked.
// Knows neither feeds nor stores.

import { PUBLISHER_PROVIDED } from '#contracts/server-document.ts';
import { isObject, type Json, type JsonObject, objectsIn, pointerToken } from '#std/json.ts';

export type Status = 'active' | 'deprecated' | 'deleted';

/** One version of one server: the document verbatim, and what is extracted from it for finding it. */
export interface Entry {
  /** Reverse-DNS name with exactly one `/`. */
  readonly name: string;
  readonly version: string;
  /** The server.json, as it is served. */
  readonly document: JsonObject;
  readonly title?: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly status: Status;
  /** Why the status is what it is, as an upstream registry said. */
  readonly statusMessage?: string;
  /** RFC 3339; absent where the source does not say. */
  readonly statusChangedAt?: string;
  readonly tier?: string;
  /** Transport types of packages and remotes. */
  readonly transports: readonly string[];
  /** Container images of OCI packages, for `enforceServers`. */
  readonly images: readonly string[];
  /** What an upstream registry said; absent where the source has no such notion. */
  readonly isLatest?: boolean;
  /** RFC 3339; absent where the source does not say. */
  readonly publishedAt?: string;
}

/** What is served of an entry. Times are RFC 3339 in UTC. */
export interface StoredEntry {
  readonly name: string;
  readonly version: string;
  /** The server.json as text: it goes to clients as it is, and no one on the way looks inside. */
  readonly document: string;
  readonly status: Status;
  readonly statusMessage?: string;
  readonly isLatest: boolean;
  readonly publishedAt: string;
  readonly statusChangedAt: string;
  /** Moves only when what is served of this version changed; being the latest or not is part of that. */
  readonly updatedAt: string;
}

/** The platform's own member of it: one block per container image or remote URL. */
export const PLATFORM_VENDOR = 'io.github.stacklok';

/** What an entry holds beyond its name, version and document. */
export type Extracted = Omit<Entry, 'name' | 'version' | 'document' | 'isLatest' | 'publishedAt'>;

/**
 * Tags, status and tier stand in the publisher's blocks, two levels deep, under any vendor; the status says
 * `deprecated` in any case of letters or counts as `active`.
 */
export function extract(document: JsonObject): Extracted {
  const blocks = publisherBlocks(document);
  const { title, description } = document;
  const tier = blocks.map((block) => block.tier).find((value) => typeof value === 'string');
  const deprecated = blocks.some(({ status }) => typeof status === 'string' && status.toLowerCase() === 'deprecated');
  return {
    title: typeof title === 'string' ? title : undefined,
    description: typeof description === 'string' ? description : '',
    tags: distinctTexts(blocks.flatMap((block) => strings(block.tags))),
    status: deprecated ? 'deprecated' : 'active',
    tier,
    transports: distinctTexts([
      ...objectsIn(document.packages).flatMap((pkg) => transportOf(pkg.transport)),
      ...objectsIn(document.remotes).flatMap(transportOf),
    ]),
    images: distinctTexts(objectsIn(document.packages).flatMap(imagesOf)),
  };
}

/** The names of the tools that entries list, by container image or remote URL; the first to list some counts. */
export function toolsByPlace(entries: readonly Pick<Entry, 'document'>[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const { document } of entries) {
    const provided = isObject(document._meta) ? document._meta[PUBLISHER_PROVIDED] : undefined;
    for (const vendor of values(provided).filter(isObject)) {
      for (const [place, block] of Object.entries(vendor)) {
        if (isObject(block) && Array.isArray(block.tools) && !found.has(place)) found.set(place, strings(block.tools));
      }
    }
  }
  return found;
}

/** Who built the images of an entry, and of which source, as its publisher states it: by image. */
export function provenanceByImage(document: Json | undefined): (readonly [image: string, provenance: JsonObject])[] {
  const meta = isObject(document) ? document._meta : undefined;
  const provided = isObject(meta) ? meta[PUBLISHER_PROVIDED] : undefined;
  return values(provided)
    .filter(isObject)
    .flatMap((vendor) => Object.entries(vendor))
    .flatMap(([image, block]) =>
      isObject(block) && isObject(block.provenance) ? [[image, block.provenance] as const] : [],
    );
}

const MAX_DEPTH = 64;
/**
 * Of one document as it is served, in bytes: many times what the largest have, tools described in full included. A page
 * holds a hundred of them.
 */
const DOCUMENT_BYTES_MAX = 256 * 1024;

/** What is wrong with a value, and where below it. */
interface Flaw {
  readonly pointer: string;
  readonly message: string;
}

/**
 * Why a document cannot be stored although it is JSON, or undefined: it nests too deep to be walked safely, or holds
 * a NUL character or half of a character, which PostgreSQL has no text for.
 */
export function unstorable(value: Json | undefined, depth = 0): Flaw | undefined {
  if (typeof value === 'string') {
    const fault = textFault(value);
    return fault === undefined ? undefined : { pointer: '', message: `must not hold ${fault}` };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return { pointer: '', message: `nested deeper than ${MAX_DEPTH} levels` };
  // No lists of members, and pointers put together on the way back: nearly every document is fine.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const found = unstorable(value[index], depth + 1);
      if (found !== undefined) return { ...found, pointer: `/${index}${found.pointer}` };
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    const fault = textFault(key);
    if (fault !== undefined) return { pointer: '', message: `must not have ${fault} in a member name` };
    const found = unstorable(value[key], depth + 1);
    if (found !== undefined) return { ...found, pointer: `/${pointerToken(key)}${found.pointer}` };
  }
  return undefined;
}

function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'a NUL character';
  return text.isWellFormed() ? undefined : 'half of a character (a UTF-16 surrogate without the other)';
}

/** Why an entry is too large to be served among others, or undefined. `textLength`: of its JSON as the source has it. */
export function oversized(document: JsonObject, textLength: number): Flaw | undefined {
  // A character is three bytes at most, and what is served may name a default that the source leaves out.
  if (textLength < DOCUMENT_BYTES_MAX / 4) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes <= DOCUMENT_BYTES_MAX) return undefined;
  return { pointer: '', message: `has ${bytes} bytes, which is more than the ${DOCUMENT_BYTES_MAX} of one entry` };
}

function publisherBlocks(document: JsonObject): JsonObject[] {
  const provided = isObject(document._meta) ? document._meta[PUBLISHER_PROVIDED] : undefined;
  return values(provided).flatMap(values).filter(isObject);
}

function transportOf(value: Json | undefined): string[] {
  return isObject(value) && typeof value.type === 'string' ? [value.type] : [];
}

/**
 * How pods may name the image of a package; none where it is no image. It is the identifier; older documents keep registry and
 * version apart, so their joined form counts too.
 */
export function imagesOf(pkg: JsonObject): string[] {
  const { registryType, identifier, registryBaseUrl, version } = pkg;
  if (registryType !== 'oci' || typeof identifier !== 'string') return [];
  if (typeof version !== 'string' || version === '') return [identifier];
  const tagged = `${identifier}:${version}`;
  const host = typeof registryBaseUrl === 'string' ? URL.parse(registryBaseUrl)?.host : undefined;
  return host === undefined ? [identifier, tagged] : [identifier, tagged, `${host}/${tagged}`];
}

function values(value: Json | undefined): Json[] {
  return isObject(value) ? Object.values(value).filter((item) => item !== undefined) : [];
}

function strings(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function distinctTexts(items: readonly string[]): string[] {
  return [...new Set(items)];
}
