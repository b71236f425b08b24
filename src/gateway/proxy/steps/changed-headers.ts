// Updates headers that repeat parts of a message that webhooks changed, so that no masked value remains in a header.

import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type Json } from '#std/json.ts';
import { decodeHeaderValue, encodeHeaderValue, HEADERS } from '../../wire/headers.ts';
import type { Message } from '../../wire/message.ts';
import { readValue } from '../../wire/scan.ts';

interface Written {
  readonly body: Buffer;
  readonly message: Message;
}

const PARAM = 'mcp-param-';

/**
 * Returns the updated headers. Only the tool's schema says which argument a header repeats. Therefore all arguments
 * with the header's old value are considered.
 */
export function changedHeaders(headers: IncomingHttpHeaders, before: Written, after: Written): IncomingHttpHeaders {
  const changed = { ...headers };
  const name = targetOf(after);
  if (headers[HEADERS.name] !== undefined && name !== undefined && name !== targetOf(before))
    changed[HEADERS.name] = encodeHeaderValue(name);
  const params = Object.keys(headers).filter((header) => header.startsWith(PARAM));
  if (params.length === 0) return changed;
  const [old, next] = [leavesOf(writtenArguments(before)), leavesOf(writtenArguments(after))];
  for (const header of params) {
    const given = decodeHeaderValue(String(headers[header]));
    const repeated = [...old].filter(([, text]) => text === given).map(([place]) => next.get(place));
    const [now] = repeated;
    if (repeated.length === 0 || repeated.every((text) => text === given)) continue;
    if (now !== undefined && repeated.every((text) => text === now)) changed[header] = encodeHeaderValue(now);
    else delete changed[header];
  }
  return changed;
}

function targetOf({ message }: Written): string | undefined {
  return message.kind === 'request' ? message.target?.value : undefined;
}

function writtenArguments({ body, message }: Written): Json {
  return message.kind === 'request' && message.arguments !== undefined ? readValue(body, message.arguments) : {};
}

/** Returns texts, numbers and booleans as text, by their path in the arguments. */
function leavesOf(args: Json, place = '', leaves = new Map<string, string>()): ReadonlyMap<string, string> {
  if (!isObject(args)) return leaves;
  for (const [key, value] of Object.entries(args)) {
    const at = `${place}${JSON.stringify(key)}/`;
    if (isObject(value)) leavesOf(value, at, leaves);
    else if (value !== null && typeof value !== 'object') leaves.set(at, String(value));
  }
  return leaves;
}
