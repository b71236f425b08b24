// A request of a client of 2026-07-28 as sessions have it: the same bytes without what that revision added, and with an id
// and a progress token that no other request of the shared session has.

import { createHash } from 'node:crypto';
import { canonicalJson } from '#std/json.ts';
import { messagePatches } from '../../../wire/ids.ts';
import type { RequestMessage } from '../../../wire/message.ts';
import { applyPatches, changeMembers } from '../edit.ts';
import { objectOf } from '../messages.ts';
import { META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_VERSION } from '../protocol.ts';

const NEW_META: ReadonlySet<string> = new Set([META_VERSION, META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL]);
const NEW_PARAMS: ReadonlySet<string> = new Set(['inputResponses', 'requestState']);

/** `id` is JSON text; it is the progress token as well, where the client has given one. */
export function sessionBody(body: Buffer, message: RequestMessage, id: string): Buffer {
  const { params, meta } = message;
  const patches = messagePatches(message, { id, progressToken: id });
  if (params !== undefined) patches.push(...(changeMembers(body, params.start, (key) => NEW_PARAMS.has(key)) ?? []));
  if (meta !== undefined) patches.push(...(changeMembers(body, meta.span.start, (key) => NEW_META.has(key)) ?? []));
  return applyPatches(body, patches);
}

/** What a request asks for, whatever its id, `_meta` and answers are: equal for a request and its retry. */
export function requestDigest(body: Buffer, { method, params }: RequestMessage): string {
  const { _meta, inputResponses, requestState, ...rest } = objectOf(body, params);
  return createHash('sha256')
    .update(canonicalJson([method, rest]))
    .digest('base64url');
}
