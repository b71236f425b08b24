// Adds contents of requests and answers to audit events, if the configuration requires contents.

import { type Json, parseJson } from '#std/json.ts';
import { MAX_DEPTH } from '../wire/json-bytes.ts';

/** Contents that an event includes. Larger contents are left out entirely. */
export interface AuditData {
  readonly request: boolean;
  readonly response: boolean;
  readonly maxBytes: number;
  /** If false, only the HTTP status decides whether an answer is a success. */
  readonly readsErrors: boolean;
  /** Maximum number of hops of a delegation in an event. If absent, the maximum is 10. */
  readonly delegationDepth?: number;
}

export interface AuditContents {
  readonly settings: AuditData;
  readonly request?: Buffer;
  /** The request as the client sent it, if webhooks have changed it. */
  readonly received?: Buffer;
  readonly response?: Buffer;
}

export interface AuditedData {
  readonly request?: Json;
  readonly received_request?: Json;
  readonly response?: Json;
}

/** Returns JSON unchanged. JSON nested deeper than 256 levels, and bytes that are not JSON, become a text. */
export function auditData(contents: AuditContents | undefined): AuditedData | undefined {
  if (contents === undefined) return undefined;
  const { settings, request, received, response } = contents;
  const shown = (asked: boolean, bytes: Buffer | undefined) =>
    !asked || bytes === undefined || bytes.length > settings.maxBytes ? undefined : contentOf(bytes);
  const data = {
    request: shown(settings.request, request),
    received_request: shown(settings.request, received),
    response: shown(settings.response, response),
  };
  return Object.values(data).every((each) => each === undefined) ? undefined : data;
}

function contentOf(bytes: Buffer): Json {
  const text = bytes.toString();
  const value = parseJson(text);
  return value === undefined || value === null || !fitsLevels(value, MAX_DEPTH) ? text : value;
}

/**
 * Checks the depth of a value: the scanner does not read all answers, and an answer nested thousands of levels deep
 * cannot be written as JSON.
 */
function fitsLevels(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((each) => fitsLevels(each, levels - 1));
}
