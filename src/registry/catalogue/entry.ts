// Defines an entry of the catalogue, and extracts the searchable fields from its server.json.

import { PUBLISHER_PROVIDED } from '#contracts/server-document.ts';
import { isObject, type Json, type JsonObject, objectsIn, pointerToken } from '#std/json.ts';

export type EntryStatus = 'active' | 'deprecated' | 'deleted';

/** One version of one server: its document, and the fields that are extracted from it. */
export interface CatalogueEntry {
  /** Reverse-DNS name with exactly one `/`. */
  readonly name: string;
  readonly version: string;
  /** The server.json in the form for clients. */
  readonly document: JsonObject;
  readonly title?: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly status: EntryStatus;
  /** Explanation of the status by an upstream registry. */
  readonly statusMessage?: string;
  /** RFC 3339. Absent if the source does not state this time. */
  readonly statusChangedAt?: string;
  readonly tier?: string;
  /** Transport types of packages and remotes. */
  readonly transports: readonly string[];
  /** Container images of OCI packages, for `enforceServers`. */
  readonly images: readonly string[];
  /** `isLatest` of an upstream registry. Absent if the source does not state it. */
  readonly isLatest?: boolean;
  /** RFC 3339. Absent if the source does not state this time. */
  readonly publishedAt?: string;
}

/** An entry as the store returns it to the service. Times are RFC 3339 in UTC. */
export interface StoredEntry {
  readonly name: string;
  readonly version: string;
  /** The server.json as text. The service sends the text without parsing it. */
  readonly document: string;
  readonly status: EntryStatus;
  readonly statusMessage?: string;
  readonly isLatest: boolean;
  readonly publishedAt: string;
  readonly statusChangedAt: string;
  /** Time of the last change of the served data, including `isLatest`. */
  readonly updatedAt: string;
}

/**
 * Vendor key of ToolHive in the publisher's metadata. Its value contains one block per container image or remote URL.
 */
export const PLATFORM_VENDOR = 'io.github.stacklok';

/** Fields that `extract` reads from the document. */
export type Extracted = Omit<CatalogueEntry, 'name' | 'version' | 'document' | 'isLatest' | 'publishedAt'>;

/**
 * Extracts the searchable fields. Tags, status and tier are in the publisher's blocks, two levels deep under any
 * vendor. The status is active unless a block has `deprecated`, in any letter case.
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

/**
 * Returns the names of tools that entries list, by container image or remote URL. If several entries have the same
 * image or URL, returns the first list.
 */
export function toolsByPlace(
  entries: readonly Pick<CatalogueEntry, 'document'>[],
): ReadonlyMap<string, readonly string[]> {
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

/** Returns the provenance (builder and source) that the publisher states for images, by image. */
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
 * Maximum size of a served document: many times the size of the largest known documents, which describe their tools. A
 * page contains up to a hundred documents.
 */
const DOCUMENT_BYTES_MAX = 256 * 1024;

/** A fault of a value. `pointer` is the JSON pointer within the value. */
interface Flaw {
  readonly pointer: string;
  readonly message: string;
}

/**
 * Returns why a JSON document cannot be stored: it nests too deeply for recursion, or contains characters that
 * PostgreSQL text cannot contain (NUL, unpaired surrogates). Returns undefined for other documents.
 */
export function unstorable(value: Json | undefined, depth = 0): Flaw | undefined {
  if (typeof value === 'string') {
    const fault = textFault(value);
    return fault === undefined ? undefined : { pointer: '', message: `must not hold ${fault}` };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return { pointer: '', message: `nested deeper than ${MAX_DEPTH} levels` };
  // Builds pointers only after a fault, and allocates no lists: nearly all documents are valid.
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

/**
 * Returns why an entry is too large for a page with other entries. Returns undefined for a smaller entry. `textLength`
 * is the length of the entry's JSON in the source.
 */
export function oversized(document: JsonObject, textLength: number): Flaw | undefined {
  // A shorter text always fits: a character has at most three bytes, and defaults that the source omits add little.
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
 * Returns the image names that pods may use for an OCI package. Returns an empty list for other packages. The
 * identifier is one name. Older documents state registry and version separately, so the joined forms are names too.
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
