// Reads the OpenAPI v3 documents of the API server. Each document is read once per content, because the server's index
// contains hashes.

import type { OpenApiDocument } from '#kubernetes/rules/openapi.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import type { ClusterApi } from './api.ts';
import { readIfFound, readJson } from './json-answer.ts';
import { unexpected } from './refusals.ts';

export interface Schemas {
  /** Returns the document of a group-version. undefined if the server has none. */
  read(apiVersion: string): Promise<OpenApiDocument | undefined>;
  /** Makes the next read fetch the index again. Documents with unchanged hashes are kept. */
  refresh(): void;
}

type Index = ReadonlyMap<string, string>;

export function createSchemas(api: ClusterApi): Schemas {
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

  /** Reads the path without its hash if the server redirects, because the index may briefly contain an old hash. */
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
 * Reads `GET /openapi/v3`: maps paths such as `apis/apps/v1` to URLs with a hash of the content. Servers before 1.24 do
 * not have this index.
 */
async function readIndex(api: ClusterApi): Promise<Index> {
  const paths = (await readIfFound(readJson(api, '/openapi/v3')))?.paths;
  const entries = isObject(paths) ? Object.entries(paths) : [];
  return new Map(
    entries.flatMap(([name, entry]) => {
      const path = isObject(entry) ? entry.serverRelativeURL : undefined;
      return typeof path === 'string' ? [[name, path] as const] : [];
    }),
  );
}

async function readDocument(api: ClusterApi, path: string): Promise<OpenApiDocument> {
  const read = await readJson(api, path);
  if (!isDocument(read)) throw unexpected(api.url(path), 'the answer is not an OpenAPI v3 document');
  return read;
}

/** For a path without a hash, the server returns the current content. */
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
