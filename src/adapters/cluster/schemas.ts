// The OpenAPI v3 documents of the API server, each read once per content: the server's index names their hashes.
// Knows nothing about what they say.

import type { OpenApiDocument } from '../../kube/openapi.ts';
import { Failure } from '../../std/failure.ts';
import { isObject } from '../../std/json.ts';
import type { Api } from './api.ts';
import { readJson } from './json-answer.ts';
import { unexpected } from './refusals.ts';

export interface Schemas {
  /** The document of a group-version, or undefined where the server has none. */
  read(apiVersion: string): Promise<OpenApiDocument | undefined>;
  /** Reads the index anew the next time; documents whose hash stays are kept. */
  refresh(): void;
}

type Index = ReadonlyMap<string, string>;

export function createSchemas(api: Api): Schemas {
  const documents = new Map<string, Promise<OpenApiDocument | undefined>>();
  let index: Promise<Index> | undefined;

  function current(): Promise<Index> {
    index ??= readIndex(api).catch((error: unknown) => {
      index = undefined;
      throw error;
    });
    return index;
  }

  function document(path: string): Promise<OpenApiDocument | undefined> {
    const known = documents.get(path);
    if (known !== undefined) return known;
    const reading = readDocument(api, path);
    documents.set(path, reading);
    reading.catch(() => documents.delete(path));
    return reading;
  }

  return {
    refresh: () => {
      index = undefined;
    },
    read: async (apiVersion) => {
      const name = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
      const path = (await current()).get(name);
      return path === undefined ? undefined : document(path);
    },
  };
}

/** `GET /openapi/v3`: from `apis/apps/v1` to a path with the content's hash in its query. Servers before 1.24 have none. */
async function readIndex(api: Api): Promise<Index> {
  const { paths } = await readJson(api, '/openapi/v3').catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'cluster-not-found') return { paths: undefined };
    throw error;
  });
  const entries = isObject(paths) ? Object.entries(paths) : [];
  return new Map(
    entries.flatMap(([name, entry]) => {
      const path = isObject(entry) ? entry.serverRelativeURL : undefined;
      return typeof path === 'string' ? [[name, path] as const] : [];
    }),
  );
}

/**
 * Undefined where the kinds are gone. The server redirects a hash that is not the content's any more; its index can name
 * that hash a moment longer, so the document is read as it is now, without one.
 */
async function readDocument(api: Api, path: string): Promise<OpenApiDocument | undefined> {
  const [current = path] = path.split('?');
  try {
    const read = await readJson(api, path).catch((error: unknown) => {
      if (!isRedirected(error)) throw error;
      return readJson(api, current);
    });
    if (isDocument(read)) return read;
  } catch (error) {
    if (error instanceof Failure && error.code === 'cluster-not-found') return undefined;
    throw error;
  }
  throw unexpected(api.url(path), 'the answer is no OpenAPI v3 document');
}

function isDocument(value: unknown): value is OpenApiDocument {
  return isObject(value) && isObject(value.components) && isObject(value.components.schemas);
}

function isRedirected(error: unknown): boolean {
  const status = error instanceof Failure ? error.data.status : undefined;
  return typeof status === 'number' && status >= 300 && status < 400;
}
