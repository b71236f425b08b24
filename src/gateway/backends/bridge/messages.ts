// Formats the bridge's own short JSON-RPC messages, and reads values from longer messages.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Span } from '../../wire/message.ts';

/** Returns a JSON-RPC response. `id` and `result` are JSON texts. */
export function resultMessage(id: string, result: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
}

/** Returns a JSON-RPC request, or a notification if `id` is undefined. `id` and `params` are JSON texts. */
export function callMessage(method: string, id: string | undefined, params?: string): Buffer {
  const begin = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${id}`;
  const end = params === undefined ? '}' : `,"params":${params}}`;
  return Buffer.from(`${begin},"method":${JSON.stringify(method)}${end}`);
}

export function textOf(bytes: Buffer, { start, end }: Span): string {
  return bytes.toString('utf8', start, end);
}

/** Parses the object at a span of valid JSON. Returns an empty object if the value is absent or not an object. */
export function objectOf(bytes: Buffer, span: Span | undefined): JsonObject {
  const value: unknown = span === undefined ? undefined : JSON.parse(textOf(bytes, span));
  return isObject(value) ? value : {};
}
