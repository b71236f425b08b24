// Reads the OpenAPI v3 documents of the API server, each once per content: the server's index names their hashes.

import type { OpenApiDocument } from '#kubernetes/rules/openapi.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import type { Api } from './api.ts';
import { readIfFound, readJson } from './json-answer.ts';
import { unexpected } from './refusals.ts';

export interface Schemas {
  /** Returns the document of a group-version; undefined if the server has none. */
  read(apiVersion: string): Promise<OpenApiDocument | undefined>;
  /** Lets the next read fetch the index again; documents with the same hash are kept. */
  refresh(): void;
}

type Index = ReadonlyMap<string, string>;

export function createSchemas(api: Api): Schemas {
  const documents = new Map<string, Promise<OpenApiDocument>>();
  let index: Promise<Index> | undefined;

  function current(): Promise<Index> {
    index ??= readIndex(api).catch((error: unknown) => {
      index = undefined;
      throw error;
    });
    return index;
  }

  function document(path: string): Promise<OpenApiDocument> {
    const known = documents.get(path);
    if (known !== undefined) return known;
    const reading = readDocument(api, path);
    documents.set(path, reading);
    reading.catch(() => documents.delete(path));
    return reading;
  }

  /** Reads the path without its hash if the server redirects: the index may still name an old hash for a moment. */
  async function latest(path: string): Promise<OpenApiDocument> {
    try {
      return await document(path);
    } catch (error) {
      if (!isRedirected(error)) throw error;
      return document(withoutHash(path));
    }
  }

  return {
    refresh: () => {
      index = undefined;
      for (const path of documents.keys()) if (path === withoutHash(path)) documents.delete(path);
    },
    read: async (apiVersion) => {
      const name = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
      const path = (await current()).get(name);
      return path === undefined ? undefined : readIfFound(latest(path));
    },
  };
}

/**
 * `GET /openapi/v3`: maps `apis/apps/v1` to a path with the content's hash in its query. Servers before 1.24 do not
 * have it.
 */
async function readIndex(api: Api): Promise<Index> {
  const paths = (await readIfFound(readJson(api, '/openapi/v3')))?.paths;
  const entries = isObject(paths) ? Object.entries(paths) : [];
  return new Map(
    entries.flatMap(([name, entry]) => {
      const path = isObject(entry) ? entry.serverRelativeURL : undefined;
      return typeof path === 'string' ? [[name, path] as const] : [];
    }),
  );
}

async function readDocument(api: Api, path: string): Promise<OpenApiDocument> {
  const read = await readJson(api, path);
  if (!isDocument(read)) throw unexpected(api.url(path), 'the answer is not an OpenAPI v3 document');
  return read;
}

/** The server answers a path without a hash with the current content. */
function withoutHash(path: string): string {
  const [place = path] = path.split('?');
  return place;
}

function isDocument(value: unknown): value is OpenApiDocument {
  return isObject(value) && isObject(value.components) && isObject(value.components.schemas);
}

function isRedirected(error: unknown): boolean {
  const status = error instanceof Failure ? error.data.status : undefined;
  return typeof status === 'number' && status >= 300 && status < 400;
}
