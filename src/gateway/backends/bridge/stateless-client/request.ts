// Converts a request of a client of MCP 2026-07-28 for a session. Removes the members that are new in this revision.
// Replaces the id and the progress token by texts that are unique in the shared session.

import { createHash } from 'node:crypto';
import { canonicalJson } from '#std/json.ts';
import { messagePatches } from '../../../wire/ids.ts';
import type { RequestMessage } from '../../../wire/message.ts';
import { applyPatches, changeMembers } from '../edit.ts';
import { objectOf } from '../messages.ts';
import { META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_VERSION } from '../protocol.ts';

const NEW_META: ReadonlySet<string> = new Set([META_VERSION, META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL]);
const NEW_PARAMS: ReadonlySet<string> = new Set(['inputResponses', 'requestState']);

/**
 * Returns the request body for the server. `id` is the JSON text of the new id. If the request has a progress token,
 * the token becomes the same text.
 */
export function sessionBody(body: Buffer, message: RequestMessage, id: string): Buffer {
  const { params, meta } = message;
  const patches = messagePatches(message, { id, progressToken: id });
  if (params !== undefined) patches.push(...(changeMembers(body, params.start, (key) => NEW_PARAMS.has(key)) ?? []));
  if (meta !== undefined) patches.push(...(changeMembers(body, meta.span.start, (key) => NEW_META.has(key)) ?? []));
  return applyPatches(body, patches);
}

/**
 * Returns a digest of a request without its id, `_meta` and answers. A request and its retries have the same digest.
 */
export function requestDigest(body: Buffer, { method, params }: RequestMessage): string {
  const { _meta, inputResponses, requestState, ...rest } = objectOf(body, params);
  return createHash('sha256')
    .update(canonicalJson([method, rest]))
    .digest('base64url');
}
