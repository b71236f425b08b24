// Converts responses of a server with sessions for clients of MCP 2026-07-28. Adds the required members, and sets the
// error code and the HTTP status of this revision.

import { ERRORS } from '../../../wire/errors.ts';
import { messagePatches } from '../../../wire/ids.ts';
import { objectMembers } from '../../../wire/json-walk.ts';
import type { RequestMessage, ResponseMessage, Span } from '../../../wire/message.ts';
import type { Patch } from '../../../wire/patch.ts';
import { addMembers, applyPatches, patchesOf, replaceSpan } from '../edit.ts';
import { objectOf } from '../messages.ts';
import { CACHEABLE, META_SERVER, type ServerFacts } from '../protocol.ts';

export interface StatelessResponse {
  readonly status: number;
  readonly bytes: Buffer;
}

/** Returns the response with the id of `request`. */
export function statelessResponse(
  bytes: Buffer,
  response: ResponseMessage,
  request: RequestMessage,
  facts: ServerFacts,
): StatelessResponse {
  const patches: Patch[] = messagePatches(response, { id: request.id.json });
  const { result, error } = response;
  if (result !== undefined) {
    patches.push(...resultPatches(bytes, result, request.method, facts));
    return { status: 200, bytes: applyPatches(bytes, patches) };
  }
  if (error === undefined) return { status: 200, bytes: applyPatches(bytes, patches) };
  const { code } = objectOf(bytes, error);
  const place = objectMembers(bytes, error.start)?.find(({ key }) => key === 'code');
  // MCP 2026-07-28 forbids the code of earlier revisions (Error Codes).
  if (code === ERRORS.resourceNotFound && place !== undefined) {
    patches.push(replaceSpan(place.value, String(ERRORS.invalidParams)));
  }
  return { status: statusOf(code), bytes: applyPatches(bytes, patches) };
}

/** Returns 404 for an unknown method (MCP 2026-07-28, Streamable HTTP, Protocol Version Header). */
function statusOf(code: unknown): number {
  return code === ERRORS.methodNotFound ? 404 : 200;
}

const HINTS = ['"ttlMs":0', '"cacheScope":"private"'];
const HINT_KEYS: ReadonlySet<string> = new Set(['ttlMs', 'cacheScope']);

function resultPatches(bytes: Buffer, result: Span, method: string, { serverInfo }: ServerFacts): readonly Patch[] {
  const members = objectMembers(bytes, result.start);
  if (members === undefined) return [];
  const added = ['"resultType":"complete"'];
  const hints = CACHEABLE.has(method);
  // MCP 2026-07-28 requires cache hints. Servers of earlier revisions send no cache hints.
  if (hints) added.push(...HINTS);
  const patches: Patch[] = [];
  const meta = members.find(({ key }) => key === '_meta')?.value;
  if (serverInfo !== undefined && meta === undefined) added.push(`"_meta":{${serverMember(serverInfo)}}`);
  if (serverInfo !== undefined && meta !== undefined && !(META_SERVER in objectOf(bytes, meta))) {
    patches.push(addMembers(bytes, meta.start, serverMember(serverInfo)));
  }
  return [
    ...patches,
    ...patchesOf(members, result.start, (key) => key === 'resultType' || (hints && HINT_KEYS.has(key)), added),
  ];
}

function serverMember(serverInfo: object): string {
  return `"${META_SERVER}":${JSON.stringify(serverInfo)}`;
}
