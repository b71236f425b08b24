// Reads the parts of `params` and `params._meta` that a gateway needs, at the positions that the strict scan stored.

import type { JsonBytes } from './json-bytes.ts';
import { decodeString, keyLevel, slotOf } from './json-members.ts';
import type { MessageId, MessageMeta, MessageTarget, Span } from './message.ts';
import type { MethodFacts } from './methods.ts';

const VENDOR = 'io.modelcontextprotocol/';

const META = keyLevel(0, [
  'progressToken',
  'traceparent',
  'tracestate',
  'baggage',
  `${VENDOR}protocolVersion`,
  `${VENDOR}clientInfo`,
  `${VENDOR}clientCapabilities`,
  `${VENDOR}subscriptionId`,
  `${VENDOR}logLevel`,
]);
const REF = keyLevel(META.to, ['type', 'name', 'uri']);

/**
 * Known keys of params. Includes keys that only the server or other code of the gateway reads. The scan refuses
 * repeated or misspelled known keys, so all readers see the same values.
 */
export const PARAMS = keyLevel(
  REF.to,
  [
    'name',
    'uri',
    'ref',
    'arguments',
    '_meta',
    'taskId',
    'requestId',
    'progressToken',
    'protocolVersion',
    'capabilities',
    'clientInfo',
    'cursor',
    'level',
    'requestState',
    'inputResponses',
  ],
  { _meta: META, ref: REF },
);

const AT = {
  progressToken: slotOf(META, 'progressToken'),
  traceparent: slotOf(META, 'traceparent'),
  tracestate: slotOf(META, 'tracestate'),
  baggage: slotOf(META, 'baggage'),
  protocolVersion: slotOf(META, `${VENDOR}protocolVersion`),
  clientInfo: slotOf(META, `${VENDOR}clientInfo`),
  clientCapabilities: slotOf(META, `${VENDOR}clientCapabilities`),
  subscriptionId: slotOf(META, `${VENDOR}subscriptionId`),
  refType: slotOf(REF, 'type'),
  refName: slotOf(REF, 'name'),
  refUri: slotOf(REF, 'uri'),
  name: slotOf(PARAMS, 'name'),
  uri: slotOf(PARAMS, 'uri'),
  taskId: slotOf(PARAMS, 'taskId'),
  ref: slotOf(PARAMS, 'ref'),
  arguments: slotOf(PARAMS, 'arguments'),
  meta: slotOf(PARAMS, '_meta'),
  reference: { requestId: slotOf(PARAMS, 'requestId'), progressToken: slotOf(PARAMS, 'progressToken') },
  requestedVersion: slotOf(PARAMS, 'protocolVersion'),
  ownInfo: slotOf(PARAMS, 'clientInfo'),
  cursor: slotOf(PARAMS, 'cursor'),
} as const;

const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
const LETTER_N = 0x6e;

/** Maximum length of an id, because the process stores the id until the response arrives. */
const MAX_ID_BYTES = 1024;
const INTEGER = /^(0|-?[1-9][0-9]*)$/;

export interface Params {
  readonly target?: MessageTarget;
  readonly arguments?: Span;
  readonly meta?: MessageMeta;
  readonly refersTo?: MessageId;
  readonly requestedVersion?: string;
  readonly clientInfo?: Span;
  readonly cursor?: Span;
}

export function spanAt(slots: Int32Array, slot: number): Span | undefined {
  const start = slots[slot] ?? 0;
  return start === 0 ? undefined : { start, end: slots[slot + 1] ?? 0 };
}

/**
 * Returns the text at a position. undefined if the value is not a string, or contains an unpaired surrogate or NUL,
 * which JSON readers read differently.
 */
export function textAt(source: JsonBytes, { start, end }: Span): string | undefined {
  const text = source.bytes[start] === QUOTE ? decodeString(source, start + 1, end - 1) : undefined;
  return text?.includes('\0') === true ? undefined : text;
}

/**
 * Returns the id at a position. undefined unless the value is a string or an integer in its shortest form. Equal ids
 * must have equal texts, which `1.0` and `1` do not have.
 */
export function idAt({ bytes, view }: JsonBytes, span: Span): MessageId | undefined {
  if (span.end - span.start > MAX_ID_BYTES) return undefined;
  if (bytes[span.start] !== QUOTE) {
    const json = bytes.toString('latin1', span.start, span.end);
    return INTEGER.test(json) ? { span, json } : undefined;
  }
  const text = decodeString({ bytes, view }, span.start + 1, span.end - 1);
  return text === undefined ? undefined : { span, json: JSON.stringify(text) };
}

/** Returns the params at the stored positions, or a sentence about the invalid part. */
export function readParams(source: JsonBytes, slots: Int32Array, facts: MethodFacts | undefined): Params | string {
  const meta = readMeta(source, slots);
  if (typeof meta === 'string') return meta;
  const absent = facts?.target === undefined || (slots[AT[facts.target]] === 0 && isGone(facts, meta));
  const target = absent ? undefined : readTarget(source, slots, facts.target);
  if (typeof target === 'string') return `${facts?.method} needs ${target}.`;
  const given = spanAt(slots, AT.arguments);
  const isObject = given !== undefined && source.bytes[given.start] === OPEN_OBJECT;
  const isNull = given !== undefined && source.bytes[given.start] === LETTER_N;
  if (given !== undefined && !isObject && !isNull) return 'params.arguments must be an object.';
  const refersTo = facts?.refersTo === undefined ? undefined : spanAt(slots, AT.reference[facts.refersTo]);
  const reference = refersTo === undefined ? undefined : idAt(source, refersTo);
  if (facts?.refersTo !== undefined && reference === undefined && !optionalReference(facts, refersTo)) {
    return `params.${facts.refersTo} must be a string or an integer.`;
  }
  const version = facts?.method === 'initialize' ? spanAt(slots, AT.requestedVersion) : undefined;
  return {
    target,
    arguments: isObject ? given : undefined,
    meta,
    refersTo: reference,
    requestedVersion: version === undefined ? undefined : textAt(source, version),
    clientInfo: spanAt(slots, AT.ownInfo),
    cursor: spanAt(slots, AT.cursor),
  };
}

/**
 * Returns whether the stateless era has removed the method. Such a method is refused as unknown, so its target may be
 * absent.
 */
function isGone(facts: MethodFacts, meta: MessageMeta | undefined): boolean {
  return meta?.protocolVersion !== undefined && !facts.eras.includes('stateless');
}

/**
 * Returns whether the reference is allowed to be absent. Until MCP 2025-11-25 the cancellation of a task may omit
 * `requestId` (CancelledNotificationParams).
 */
function optionalReference(facts: MethodFacts, found: Span | undefined): boolean {
  return facts.refersTo === 'requestId' && found === undefined;
}

/** Returns the target, or a description of the missing part. */
function readTarget(
  source: JsonBytes,
  slots: Int32Array,
  param: NonNullable<MethodFacts['target']>,
): MessageTarget | string {
  if (param !== 'ref') return targetAt(source, slots, AT[param]) ?? `params.${param}, a string`;
  const type = spanAt(slots, AT.refType);
  const kind = type === undefined ? undefined : textAt(source, type);
  const isObject = source.bytes[slots[AT.ref] ?? 0] === OPEN_OBJECT;
  if (isObject && kind === 'ref/prompt') return refTarget(source, slots, kind) ?? 'params.ref.name, a string';
  if (isObject && kind === 'ref/resource') return refTarget(source, slots, kind) ?? 'params.ref.uri, a string';
  return 'params.ref of the type "ref/prompt" or "ref/resource"';
}

function refTarget(
  source: JsonBytes,
  slots: Int32Array,
  refType: NonNullable<MessageTarget['refType']>,
): MessageTarget | undefined {
  const target = targetAt(source, slots, refType === 'ref/prompt' ? AT.refName : AT.refUri);
  return target === undefined ? undefined : { ...target, refType };
}

function targetAt(source: JsonBytes, slots: Int32Array, slot: number): MessageTarget | undefined {
  const span = spanAt(slots, slot);
  const value = span === undefined ? undefined : textAt(source, span);
  return span === undefined || value === undefined ? undefined : { value, span };
}

function readMeta(source: JsonBytes, slots: Int32Array): MessageMeta | string | undefined {
  const span = spanAt(slots, AT.meta);
  if (span === undefined) return undefined;
  if (source.bytes[span.start] !== OPEN_OBJECT) return 'params._meta must be an object.';
  const version = spanAt(slots, AT.protocolVersion);
  const protocolVersion = version === undefined ? undefined : textAt(source, version);
  if (version !== undefined && protocolVersion === undefined) return `${VENDOR}protocolVersion must be a string.`;
  const token = spanAt(slots, AT.progressToken);
  const progressToken = token === undefined ? undefined : idAt(source, token);
  if (token !== undefined && progressToken === undefined) return 'progressToken must be a string or an integer.';
  const subscription = spanAt(slots, AT.subscriptionId);
  const subscriptionId = subscription === undefined ? undefined : idAt(source, subscription);
  if (subscription !== undefined && subscriptionId === undefined) return `${VENDOR}subscriptionId must be an id.`;
  const clientInfo = spanAt(slots, AT.clientInfo);
  const clientCapabilities = spanAt(slots, AT.clientCapabilities);
  for (const each of [clientInfo, clientCapabilities]) {
    if (each !== undefined && source.bytes[each.start] !== OPEN_OBJECT) {
      return `${VENDOR}clientInfo and clientCapabilities must be objects.`;
    }
  }
  return {
    span,
    protocolVersion,
    progressToken,
    subscriptionId,
    traceparent: optionalText(source, slots, AT.traceparent),
    tracestate: optionalText(source, slots, AT.tracestate),
    baggage: optionalText(source, slots, AT.baggage),
    clientInfo,
    clientCapabilities,
  };
}

/**
 * Returns the text. undefined for an invalid value: a receiver of an invalid trace context starts a new trace (W3C
 * Trace Context section 2.2.1).
 */
function optionalText(source: JsonBytes, slots: Int32Array, slot: number): string | undefined {
  const span = spanAt(slots, slot);
  return span === undefined ? undefined : textAt(source, span);
}
