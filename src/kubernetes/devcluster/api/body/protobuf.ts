// Decodes the protobuf bodies that `kubectl create namespace|configmap|secret|serviceaccount|token` sends (Kubernetes
// documentation, "Kubernetes Protobuf encoding"). Other kinds are refused, because their clients can send JSON.

import type { Json, JsonObject } from '#std/json.ts';

/** The first four bytes of every body. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Encoding of a field. Keys of `map` and `bytes-map` are texts. */
type FieldType = 'text' | 'flag' | 'number' | 'texts' | 'map' | 'bytes-map' | ProtobufMessage;

interface ProtobufMessage {
  readonly [number: number]: readonly [name: string, type: FieldType];
}

/** Field numbers as k8s.io/apimachinery and k8s.io/api publish them. */
const METADATA: ProtobufMessage = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  11: ['labels', 'map'],
  12: ['annotations', 'map'],
  14: ['finalizers', 'texts'],
};

const BOUND_OBJECT: ProtobufMessage = {
  1: ['kind', 'text'],
  2: ['apiVersion', 'text'],
  3: ['name', 'text'],
  4: ['uid', 'text'],
};
const TOKEN_SPEC: ProtobufMessage = {
  1: ['audiences', 'texts'],
  3: ['boundObjectRef', BOUND_OBJECT],
  4: ['expirationSeconds', 'number'],
};

const CORE = 'v1';
const API_VERSIONS: Readonly<Record<string, string>> = { TokenRequest: 'authentication.k8s.io/v1' };

const KINDS: Readonly<Record<string, ProtobufMessage>> = {
  TokenRequest: { 1: ['metadata', METADATA], 2: ['spec', TOKEN_SPEC] },
  Namespace: { 1: ['metadata', METADATA] },
  ServiceAccount: { 1: ['metadata', METADATA] },
  ConfigMap: {
    1: ['metadata', METADATA],
    2: ['data', 'map'],
    3: ['binaryData', 'bytes-map'],
    4: ['immutable', 'flag'],
  },
  Secret: {
    1: ['metadata', METADATA],
    2: ['data', 'bytes-map'],
    3: ['type', 'text'],
    4: ['stringData', 'map'],
    5: ['immutable', 'flag'],
  },
};

const TYPE_META: ProtobufMessage = { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] };

/**
 * Returns the object in a body. undefined if the body is not valid protobuf of Kubernetes, or if the kind is not
 * supported.
 */
export function readProtobuf(body: Buffer): JsonObject | undefined {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const envelope = fieldsOf(body.subarray(MAGIC.length));
  const meta = envelope?.find(({ number }) => number === 1)?.bytes;
  const raw = envelope?.find(({ number }) => number === 2)?.bytes;
  if (meta === undefined || raw === undefined) return undefined;
  const named = readMessage(TYPE_META, meta);
  const kind = typeof named?.kind === 'string' ? named.kind : '';
  const message = named?.apiVersion === (API_VERSIONS[kind] ?? CORE) ? KINDS[kind] : undefined;
  const object = message === undefined ? undefined : readMessage(message, raw);
  return object === undefined ? undefined : { ...named, ...object };
}

interface ProtobufField {
  readonly number: number;
  /** Content of a length-delimited field. Empty for numbers. */
  readonly bytes: Buffer;
  readonly value: number;
}

const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const FIXED_32 = 5;

/** Returns undefined if the bytes are not a protobuf message. */
function fieldsOf(bytes: Buffer): ProtobufField[] | undefined {
  const fields: ProtobufField[] = [];
  let position = 0;
  while (position < bytes.length) {
    const key = varint(bytes, position);
    if (key === undefined) return undefined;
    const number = Math.floor(key.value / 8);
    const content = readPayload(bytes, key.end, key.value % 8);
    if (content === undefined || content.end > bytes.length) return undefined;
    fields.push({ number, bytes: content.bytes, value: content.value });
    position = content.end;
  }
  return fields;
}

function readPayload(bytes: Buffer, start: number, wireType: number) {
  const none = Buffer.alloc(0);
  switch (wireType) {
    case VARINT: {
      const number = varint(bytes, start);
      return number === undefined ? undefined : { ...number, bytes: none };
    }
    case DELIMITED: {
      const length = varint(bytes, start);
      if (length === undefined) return undefined;
      const end = length.end + length.value;
      return { bytes: bytes.subarray(length.end, end), value: 0, end };
    }
    case FIXED_64:
      return { bytes: none, value: 0, end: start + 8 };
    case FIXED_32:
      return { bytes: none, value: 0, end: start + 4 };
    default:
      return undefined;
  }
}

function varint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let position = start; position < bytes.length && position < start + 10; position += 1) {
    const byte = bytes[position] ?? 0;
    value += (byte % 128) * 128 ** (position - start);
    if (byte < 128) return { value, end: position + 1 };
  }
  return undefined;
}

/** Decodes a message. Drops empty texts and fields that are not in the table. */
function readMessage(message: ProtobufMessage, bytes: Buffer): JsonObject | undefined {
  const fields = fieldsOf(bytes);
  if (fields === undefined) return undefined;
  const object: JsonObject = {};
  for (const field of fields) {
    const [name, type] = message[field.number] ?? [];
    if (name === undefined || type === undefined) continue;
    const value = readField(type, field, object[name]);
    if (value !== undefined && value !== '') object[name] = value;
  }
  return object;
}

function readField(type: FieldType, field: ProtobufField, before: Json | undefined): Json | undefined {
  switch (type) {
    case 'text':
      return field.bytes.toString('utf8');
    case 'flag':
      return field.value === 1;
    case 'number':
      return field.value;
    case 'texts':
      return [...(Array.isArray(before) ? before : []), field.bytes.toString('utf8')];
    case 'map':
    case 'bytes-map':
      return {
        ...(before as JsonObject | undefined),
        ...readMapEntry(field.bytes, type === 'map' ? 'utf8' : 'base64'),
      };
    default:
      return readMessage(type, field.bytes);
  }
}

/** Decodes a map entry, which is a message with a key and a value. */
function readMapEntry(bytes: Buffer, encoding: 'utf8' | 'base64'): JsonObject {
  const fields = fieldsOf(bytes) ?? [];
  const at = (number: number) => fields.find((field) => field.number === number)?.bytes ?? Buffer.alloc(0);
  return { [at(1).toString('utf8')]: at(2).toString(encoding) };
}
