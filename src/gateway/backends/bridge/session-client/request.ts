// Converts a request of a client with sessions to MCP 2026-07-28. Adds the `_meta` members that describe the client,
// and the headers that mirror the body.

import type { RequestMessage } from '../../../wire/message.ts';
import type { Patch } from '../../../wire/patch.ts';
import { LATEST_STATELESS_REVISION } from '../../../wire/revisions.ts';
import { addMembers, applyPatches, changeMembers, replaceSpan } from '../edit.ts';
import { META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_VERSION } from '../protocol.ts';
import type { ClientIdentity } from './identity.ts';

/**
 * Log level of clients that have set no level. Servers may choose the level in this case (MCP 2025-11-25,
 * server/utilities/logging).
 */
export const DEFAULT_LOG_LEVEL = 'info';

/** Returns members of `_meta` as JSON texts. Without a log level, the server sends no log messages for the request. */
export function metaMembers({ capabilities, clientInfo }: ClientIdentity, logLevel?: string): readonly string[] {
  const members = [
    `"${META_VERSION}":"${LATEST_STATELESS_REVISION}"`,
    `"${META_CAPABILITIES}":${JSON.stringify(capabilities)}`,
  ];
  if (clientInfo !== undefined) members.push(`"${META_CLIENT}":${JSON.stringify(clientInfo)}`);
  if (logLevel !== undefined) members.push(`"${META_LOG_LEVEL}":${JSON.stringify(logLevel)}`);
  return members;
}

export function metaObject(identity: ClientIdentity): string {
  return `{${metaMembers(identity).join(',')}}`;
}

const OWN_META: ReadonlySet<string> = new Set([META_VERSION, META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL]);

export interface Retry {
  /**
   * JSON text of the new id, which must differ from the previous request's id (MCP 2026-07-28, basic/patterns/mrtr).
   */
  readonly id: string;
  /** Members of `params` as JSON texts. */
  readonly members: readonly string[];
}

const ANSWERS: ReadonlySet<string> = new Set(['inputResponses', 'requestState']);

export function statelessBody(body: Buffer, message: RequestMessage, meta: readonly string[], retry?: Retry): Buffer {
  const patches: Patch[] = retry === undefined ? [] : [replaceSpan(message.id.span, retry.id)];
  const { params, meta: given } = message;
  const own = `"_meta":{${meta.join(',')}}`;
  if (params === undefined) {
    const end = body.lastIndexOf('}');
    patches.push(replaceSpan({ start: end, end }, `,"params":{${[own, ...(retry?.members ?? [])].join(',')}}`));
    return applyPatches(body, patches);
  }
  const added = given === undefined ? [own] : [];
  if (given !== undefined) patches.push(...(changeMembers(body, given.span.start, isOwnMeta, meta) ?? []));
  if (retry === undefined) {
    if (given === undefined) patches.push(addMembers(body, params.start, own));
  } else {
    patches.push(...(changeMembers(body, params.start, isAnswer, [...added, ...retry.members]) ?? []));
  }
  return applyPatches(body, patches);
}

function isOwnMeta(key: string): boolean {
  return OWN_META.has(key);
}

function isAnswer(key: string): boolean {
  return ANSWERS.has(key);
}
