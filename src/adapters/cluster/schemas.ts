// The OpenAPI v3 documents of the API server, each read once per content: the server's index names their hashes.
// Knows nothing about what they say.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenApiDocument } from '../../kube/openapi.ts';
import { Failure } from '../../std/failure.ts';
import { sha256 } from '../../std/hash.ts';
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

/** `cacheDir`: a folder that keeps the documents between processes; they are distinguished by content hash. */
export function createSchemas(api: Api, cacheDir: string | undefined): Schemas {
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
    const reading = readDocument(api, cacheDir, path);
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
      if (path === undefined) return undefined;
      try {
        return await document(path);
      } catch (error) {
        if (!isMoved(error)) throw error;
      }
      // The content changed since the index was read: the server redirects to its new hash.
      index = undefined;
      const newer = (await current()).get(name);
      return newer === undefined ? undefined : document(newer);
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

async function readDocument(api: Api, cacheDir: string | undefined, path: string): Promise<OpenApiDocument> {
  const file = cacheDir === undefined ? undefined : join(cacheDir, `openapi-${sha256(path)}.json`);
  const kept = file === undefined ? undefined : await readKept(file);
  if (kept !== undefined) return kept;
  const read = await readJson(api, path);
  if (!isDocument(read)) throw unexpected(api.url(path), 'the answer is no OpenAPI v3 document');
  if (file !== undefined && path.includes('hash=')) await storeDocument(file, read);
  return read;
}

async function readKept(file: string): Promise<OpenApiDocument | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isDocument(value) ? value : undefined;
  } catch {
    // Not there, or damaged: the server has it.
    return undefined;
  }
}

/** A cache that cannot be written costs a request in the next process, and nothing now. */
async function storeDocument(file: string, document: OpenApiDocument): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
    .then(() => writeFile(draft, JSON.stringify(document)))
    .then(() => rename(draft, file))
    .catch(() => undefined);
}

function isDocument(value: unknown): value is OpenApiDocument {
  return isObject(value) && isObject(value.components) && isObject(value.components.schemas);
}

function isMoved(error: unknown): boolean {
  if (!(error instanceof Failure)) return false;
  const { status } = error.data;
  return error.code === 'cluster-not-found' || (typeof status === 'number' && status >= 300 && status < 400);
}
