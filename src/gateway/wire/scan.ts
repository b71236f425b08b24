// Scans one JSON-RPC message strictly in one pass over its bytes, without building the values of params. Finds the kind
// of the message and the positions of its parts. Refuses bytes that two JSON readers could read differently.

import { isUtf8 } from 'node:buffer';
import type { Json } from '#std/json.ts';
import {
  DUPLICATE_KEY,
  ESCAPED_KEY,
  type FaultReason,
  faultAt,
  faultPosition,
  faultReason,
  type JsonBytes,
  LONE_SURROGATE,
  MAX_DEPTH,
  OTHER_CASE,
  openSource,
  SYNTAX,
  skipSpace,
  skipValue,
  TOO_DEEP,
  TOO_MANY_KEYS,
} from './json-bytes.ts';
import { keyLevel, readMembers, slotOf } from './json-members.ts';
import { readStrict, type StrictOptions } from './json-strict.ts';
import type { Message, MessageId, ScanFault, Scanned, Span } from './message.ts';
import { methodFacts } from './methods.ts';
import { idAt, PARAMS, readParams, spanAt, textAt } from './scan-params.ts';

const TOP = keyLevel(PARAMS.to, ['jsonrpc', 'id', 'method', 'params', 'result', 'error'], { params: PARAMS });

const JSONRPC = slotOf(TOP, 'jsonrpc');
const ID = slotOf(TOP, 'id');
const METHOD = slotOf(TOP, 'method');
const PARAMS_SLOT = slotOf(TOP, 'params');
const RESULT = slotOf(TOP, 'result');
const ERROR = slotOf(TOP, 'error');

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const LETTER_N = 0x6e;

/** Positions in the message that is being scanned. Set to zero before each scan, and without meaning between scans. */
const SLOTS = new Int32Array(TOP.to);

/** Scans a message. Never throws. Spans of the result refer to `body`. */
export function scanMessage(body: Buffer): Scanned {
  if (!isUtf8(body)) return refuseMessage(-32700, 'The body is not valid UTF-8.');
  const source = openSource(body);
  const start = skipSpace(body, 0, body.length);
  if (body[start] === OPEN_ARRAY)
    return refuseMessage(-32600, 'Batches are not supported: send each message by itself.');
  // A loop over few slots costs less than `fill`.
  for (let slot = 0; slot < SLOTS.length; slot += 1) SLOTS[slot] = 0;
  const after =
    body[start] === OPEN_OBJECT
      ? readMembers(source, start, body.length, 0, TOP, SLOTS)
      : skipValue(source, start, body.length, 0);
  if (after < 0) return refuseMessage(codeOf(after), sentenceOf(after), readId(source));
  const rest = skipSpace(body, after, body.length);
  if (rest !== body.length) return refuseMessage(-32700, `The body has more than one JSON value (byte ${rest}).`);
  if (body[start] !== OPEN_OBJECT) return refuseMessage(-32600, 'A message must be a JSON object.');
  return readMessage(source);
}

export type StrictScan =
  | { readonly ok: true }
  | { readonly ok: false; readonly fault: ScanFault; readonly reason: FaultReason };

/**
 * Scans a part of a body that a decision depends on, such as `arguments`. Refuses repeated keys, keys that another
 * reader could read as a known key, and unpaired surrogates.
 */
export function scanValueStrict(body: Buffer, span: Span, options: StrictOptions = {}): StrictScan {
  const after = readStrict(openSource(body), span.start, span.end, 0, options);
  if (after === span.end) return { ok: true };
  const fault = after < 0 ? after : faultAt(after, SYNTAX);
  return { ok: false, fault: { code: codeOf(fault), message: sentenceOf(fault) }, reason: faultReason(fault) };
}

/** Parses a part of a body that a scan has validated as JSON. */
export function readValue(body: Buffer, span: Span): Json {
  return JSON.parse(body.toString('utf8', span.start, span.end));
}

function refuseMessage(code: ScanFault['code'], message: string, id?: MessageId): Scanned {
  return { ok: false, fault: { code, message, id } };
}

function readId(source: JsonBytes): MessageId | undefined {
  const span = spanAt(SLOTS, ID);
  return span === undefined ? undefined : idAt(source, span);
}

function readMessage(source: JsonBytes): Scanned {
  const version = spanAt(SLOTS, JSONRPC);
  const id = readId(source);
  if (version === undefined || source.bytes.toString('latin1', version.start, version.end) !== '"2.0"') {
    return refuseMessage(-32600, 'The message has no "jsonrpc": "2.0".', id);
  }
  const methodSpan = spanAt(SLOTS, METHOD);
  if (methodSpan === undefined) return readResponse(source, id);
  if (SLOTS[RESULT] !== 0 || SLOTS[ERROR] !== 0) {
    return refuseMessage(-32600, 'The message has a method and a result: it must have only one of them.', id);
  }
  const method = textAt(source, methodSpan);
  if (method === undefined || method === '') return refuseMessage(-32600, 'The method must be a string.', id);
  if (SLOTS[ID] !== 0 && id === undefined) return refuseMessage(-32600, 'The id must be a string or an integer.');
  const params = spanAt(SLOTS, PARAMS_SLOT);
  if (params !== undefined && source.bytes[params.start] !== OPEN_OBJECT) {
    return refuseMessage(-32600, 'The params must be an object.', id);
  }
  const facts = methodFacts(method);
  if (facts !== undefined && facts.notification !== (id === undefined)) {
    const rule = facts.notification ? 'is a notification and must have no id' : 'is a request and needs an id';
    return refuseMessage(-32600, `${method} ${rule}.`, id);
  }
  const read = readParams(source, SLOTS, facts);
  if (typeof read === 'string') return refuseMessage(-32602, read, id);
  const call = { method, methodSpan, params, ...read };
  const message: Message = id === undefined ? { ...call, kind: 'notification' } : { ...call, kind: 'request', id };
  return { ok: true, message };
}

function readResponse(source: JsonBytes, id: MessageId | undefined): Scanned {
  const result = spanAt(SLOTS, RESULT);
  const error = spanAt(SLOTS, ERROR);
  const given = SLOTS[ID] ?? 0;
  if ((result === undefined) === (error === undefined)) {
    return refuseMessage(-32600, 'The message must have a method, a result or an error, and only one of them.', id);
  }
  if (SLOTS[PARAMS_SLOT] !== 0) return refuseMessage(-32600, 'A response has no params.', id);
  if (error !== undefined && source.bytes[error.start] !== OPEN_OBJECT) {
    return refuseMessage(-32600, 'The error must be an object.', id);
  }
  const unread = error !== undefined && (given === 0 || source.bytes[given] === LETTER_N);
  if (id === undefined && !unread) return refuseMessage(-32600, 'The id must be a string or an integer.');
  return { ok: true, message: { kind: 'response', id, result, error } };
}

function codeOf(fault: number): -32700 | -32600 {
  return faultReason(fault) === SYNTAX ? -32700 : -32600;
}

function sentenceOf(fault: number): string {
  const at = `(byte ${faultPosition(fault)})`;
  switch (faultReason(fault)) {
    case SYNTAX:
      return `The body is not valid JSON ${at}.`;
    case TOO_DEEP:
      return `The body is nested deeper than ${MAX_DEPTH} levels ${at}.`;
    case DUPLICATE_KEY:
      return `A key occurs twice in one object ${at}.`;
    case OTHER_CASE:
      return `A key differs in letter case only from one that is read ${at}.`;
    case ESCAPED_KEY:
      return `A key of the protocol is written with escapes ${at}.`;
    case LONE_SURROGATE:
      return `A text has half of a surrogate pair ${at}.`;
    case TOO_MANY_KEYS:
      return `An object has too many keys ${at}.`;
  }
}
