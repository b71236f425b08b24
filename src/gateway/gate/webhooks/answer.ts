// Parses the answer of a webhook, which permits, denies or changes the call. Any other answer is a failure of the
// webhook.

import { isObject, parseJson } from '#std/json.ts';
import { utf8Text } from '#std/utf8.ts';
import { foldKey } from '../../wire/json-members.ts';
import { afterSpace, objectMembers } from '../../wire/json-walk.ts';

/** `patch` is unparsed JSON, because its numbers may be larger than JavaScript can represent. */
export type WebhookAnswer =
  | { readonly kind: 'allowed'; readonly patch?: Buffer }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'failed'; readonly detail: string };

/** HTTP status with which a webhook denies without a body. This status is never a failure. */
const ALWAYS_DENIED = 422;
const REASON_MAX = 128;

/** Parses the answer. `uid` is the id of the request. */
export function readWebhookAnswer(status: number, body: Uint8Array, uid: string): WebhookAnswer {
  if (status === ALWAYS_DENIED) return { kind: 'denied', reason: 'HTTP status 422' };
  if (status !== 200) return { kind: 'failed', detail: `it answered with the HTTP status ${status}` };
  const bytes = Buffer.from(body);
  const text = utf8Text(bytes);
  if (text === undefined) return { kind: 'failed', detail: 'its answer is not UTF-8' };
  const value = parseJson(text);
  if (!isObject(value)) return { kind: 'failed', detail: 'its answer is not a JSON object' };
  const members = objectMembers(bytes, afterSpace(bytes, 0));
  if (members === undefined) return { kind: 'failed', detail: 'its answer is nested too deep' };
  if (new Set(members.map(({ key }) => foldKey(key))).size < members.length)
    return { kind: 'failed', detail: 'its answer has a key twice' };
  if (value.uid !== uid) return { kind: 'failed', detail: 'its answer is for another request: uid differs' };
  if (typeof value.allowed !== 'boolean')
    return { kind: 'failed', detail: 'its answer has no allowed that is true or false' };
  if (!value.allowed)
    return { kind: 'denied', reason: typeof value.reason === 'string' ? shownReason(value.reason) : '' };
  const { patch = null, patch_type: type = '' } = value;
  if (patch === null) return { kind: 'allowed' };
  if (type !== 'json_patch')
    return { kind: 'failed', detail: 'its answer has a patch, and patch_type is not json_patch' };
  const span = members.find(({ key }) => key === 'patch')?.value;
  return span === undefined ? { kind: 'allowed' } : { kind: 'allowed', patch: bytes.subarray(span.start, span.end) };
}

/**
 * Returns the reason for audit events and the log: at most 128 characters, with `?` for each character that is not
 * printable ASCII.
 */
function shownReason(reason: string): string {
  return reason.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, REASON_MAX);
}
