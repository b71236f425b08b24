// Reads responses as JSON objects.

import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import type { ApiRequest, ClusterApi } from './api.ts';
import { unexpected } from './refusals.ts';

/** Sends a GET. */
export function readJson(
  api: ClusterApi,
  path: string,
  how: Pick<ApiRequest, 'accept' | 'timeoutMs' | 'urgent'> = {},
): Promise<JsonObject> {
  return sendForJson(api, { method: 'GET', path, repeatable: true, ...how });
}

/** Throws Failure `cluster-error` if the response is not a JSON object. */
export async function sendForJson(api: ClusterApi, request: ApiRequest): Promise<JsonObject> {
  const { text } = await api.send(request);
  return jsonObjectOf(api, request.path, text);
}

/** Awaits `reading`. Returns undefined if the object does not exist. */
export async function readIfFound<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Failure && error.code === 'cluster-not-found') return undefined;
    throw error;
  }
}

export function jsonObjectOf(api: Pick<ClusterApi, 'url'>, path: string, text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw unexpected(api.url(path), 'the answer is not a JSON object: is this a Kubernetes API server?');
}
