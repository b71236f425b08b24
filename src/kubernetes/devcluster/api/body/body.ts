// Reads the body of a write: JSON or YAML, one object or a patch.

import { parseDocument } from 'yaml';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { ApiRequest } from '../request.ts';
import { badRequest, unsupportedMediaType } from '../status.ts';
import { duplicateKeys } from './json-keys.ts';
import { readProtobuf } from './protobuf.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const OBJECT_TYPES = ['application/json', 'application/yaml', PROTOBUF];

export interface ReadBody {
  readonly value: JsonObject;
  /** Texts such as `duplicate field "spec.replicas"`, one for each repeated key. */
  readonly duplicates: readonly string[];
}

export function readObject(request: ApiRequest, kind: string): ReadBody {
  const type = mediaType(request.contentType);
  const text = request.body.toString('utf8');
  if (type === 'application/json' || type === '' || type === '*/*') return readJsonObject(text, kind);
  if (type === PROTOBUF) return readProtobufObject(request.body);
  if (type !== 'application/yaml') throw unsupportedMediaType(OBJECT_TYPES);
  const value = parseYaml(text);
  if (!isObject(value)) throw unrecognized(kind, `the body is not an object (${excerpt(text)})`);
  return { value, duplicates: [] };
}

/** Reads a protobuf body. For unsupported kinds, the error tells the client to send JSON. */
function readProtobufObject(body: Buffer): ReadBody {
  const value = readProtobuf(body);
  if (value === undefined) throw unsupportedMediaType(['application/json', 'application/yaml']);
  return { value, duplicates: [] };
}

function readJsonObject(text: string, kind: string): ReadBody {
  const value = parseText(text);
  if (value instanceof SyntaxError)
    throw unrecognized(kind, `json parse error: ${lowerFirst(value.message)} (${excerpt(text)})`);
  if (!isObject(value)) throw unrecognized(kind, `the body is not an object (${excerpt(text)})`);
  return { value, duplicates: duplicateKeys(text).map((path) => `duplicate field "${path}"`) };
}

function unrecognized(kind: string, why: string): Error {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${why}`);
}

function lowerFirst(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

function excerpt(text: string): string {
  if (text === '') return '<empty>';
  return text.length > 64 ? `${text.slice(0, 64)} ...` : text;
}

/** Reads a JSON patch or merge patch. The caller checks its shape. */
export function readPatch(request: ApiRequest): Json {
  const value = parseText(request.body.toString('utf8'));
  if (value instanceof SyntaxError) throw badRequest(`error decoding patch: ${lowerFirst(value.message)}`);
  return value;
}

/** Reads the configuration of a server-side apply, which is YAML or JSON. */
export function readApplied(request: ApiRequest): ReadBody {
  const text = request.body.toString('utf8');
  const json = parseText(text);
  if (!(json instanceof SyntaxError) && isObject(json))
    return { value: json, duplicates: duplicateKeys(text).map((path) => `duplicate field "${path}"`) };
  const value = parseYaml(text);
  if (!isObject(value)) throw badRequest('error decoding YAML: the document is not an object');
  return { value, duplicates: [] };
}

function parseText(text: string): Json | SyntaxError {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    throw error;
  }
}

/** Parses YAML with the YAML version and merge keys that Kubernetes supports. */
function parseYaml(text: string): unknown {
  const document = parseDocument(text, { version: '1.1', merge: true });
  const [problem] = document.errors;
  if (problem !== undefined)
    throw badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${problem.message}`);
  return document.toJS();
}

/** Returns the media type without parameters, in lower case. */
export function mediaType(header: string): string {
  return (header.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Reads the DeleteOptions of a deletion. Without a body, no option is set. */
export function readDeleteBody(request: ApiRequest): JsonObject {
  if (mediaType(request.contentType) === PROTOBUF) throw unsupportedMediaType(['application/json']);
  const text = request.body.toString('utf8').trim();
  if (text === '') return {};
  const parsed = parseText(text);
  const value = parsed instanceof SyntaxError ? undefined : parsed;
  if (isObject(value) && (value.kind === undefined || value.kind === 'DeleteOptions')) return value;
  if (isObject(value)) throw badRequest(`no kind ${JSON.stringify(value.kind)} is registered as DeleteOptions`);
  throw badRequest("couldn't get version/kind; json parse error: the body is not a DeleteOptions object");
}
