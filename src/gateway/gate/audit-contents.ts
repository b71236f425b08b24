// Contents of requests and answers in audit events, where they are asked for.

import { type Json, parseJson } from '#std/json.ts';
import { MAX_DEPTH } from '../wire/json-bytes.ts';

/** Which contents an event holds; what is larger is left out as a whole. */
export interface AuditData {
  readonly request: boolean;
  readonly response: boolean;
  readonly maxBytes: number;
  /** False: only its HTTP status says whether an answer is a success. */
  readonly readsErrors: boolean;
  /** The most hops of a delegation that an event names. Absent: 10. */
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

/** JSON as it is; what is nested beyond 256 levels, and anything else, as a text. */
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

/** The scanner does not read all answers. An answer that is nested thousands of levels deep is not written as JSON. */
function fitsLevels(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((each) => fitsLevels(each, levels - 1));
}
