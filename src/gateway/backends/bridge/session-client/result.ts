// Converts responses of a server of MCP 2026-07-28 for clients with sessions. Removes members that are new in this
// revision, and restores the error codes of earlier revisions.

import { shownText } from '#std/json.ts';
import { ERRORS } from '../../../wire/errors.ts';
import { type MemberSpan, objectMembers } from '../../../wire/json-walk.ts';
import type { MessageId, RequestMessage, ResponseMessage, Span } from '../../../wire/message.ts';
import type { Patch } from '../../../wire/patch.ts';
import { applyPatches, patchesOf, replaceSpan } from '../edit.ts';
import { objectOf } from '../messages.ts';
import { CACHEABLE } from '../protocol.ts';
import type { ToolSchemas } from '../tool-schemas.ts';

/**
 * Returns `resultType` of a result. Servers of earlier revisions leave this member out (MCP 2026-07-28, Result
 * Responses).
 */
export function resultType(bytes: Buffer, members: readonly MemberSpan[]): string {
  const member = members.find(({ key }) => key === 'resultType');
  return member === undefined
    ? 'complete'
    : shownText(JSON.parse(bytes.toString('utf8', member.value.start, member.value.end)));
}

/** Returns the response with the client's id. */
export function sessionResponse(
  bytes: Buffer,
  response: ResponseMessage,
  request: RequestMessage,
  schemas: ToolSchemas,
): Buffer {
  const { result, error, id } = response;
  const patches = [...idPatch(id, request.id)];
  if (result !== undefined) patches.push(...resultPatches(bytes, result, request.method, schemas));
  if (error !== undefined && request.method === 'resources/read') patches.push(...missingResource(bytes, error));
  return applyPatches(bytes, patches);
}

function idPatch(given: MessageId | undefined, due: MessageId): readonly Patch[] {
  return given === undefined || given.json === due.json ? [] : [replaceSpan(given.span, due.json)];
}

function resultPatches(bytes: Buffer, result: Span, method: string, schemas: ToolSchemas): readonly Patch[] {
  const members = objectMembers(bytes, result.start);
  if (members === undefined) return [];
  const hints = CACHEABLE.has(method);
  const call = method === 'tools/call';
  const patches = patchesOf(members, result.start, (key) => {
    if (key === 'resultType') return true;
    if (hints && (key === 'ttlMs' || key === 'cacheScope')) return true;
    return call && key === 'structuredContent' && !isObjectAt(bytes, members, key);
  });
  return method === 'tools/list' ? [...patches, ...schemas.learnForSessions(bytes, result)] : patches;
}

/**
 * Returns whether structured content is an object, as revisions until 2025-11-25 require. Other structured content can
 * be removed, because `content` has the same data as text.
 */
function isObjectAt(bytes: Buffer, members: readonly MemberSpan[], key: string): boolean {
  const value = members.find((member) => member.key === key)?.value;
  return value !== undefined && bytes[value.start] === 0x7b;
}

/**
 * Restores the error code of a missing resource (MCP 2025-11-25, server/resources, Error Handling). Other invalid
 * params keep their code.
 */
function missingResource(bytes: Buffer, error: Span): readonly Patch[] {
  const { code, data, message } = objectOf(bytes, error);
  const names = typeof data === 'object' && data !== null && 'uri' in data;
  if (code !== ERRORS.invalidParams || !(names || /not found/i.test(shownText(message)))) return [];
  const place = objectMembers(bytes, error.start)?.find(({ key }) => key === 'code');
  return place === undefined ? [] : [replaceSpan(place.value, String(ERRORS.resourceNotFound))];
}
