// Reads a server's list of tools again after the server refused a call because of its headers.

import { HEADERS } from '../../../wire/headers.ts';
import { LATEST_STATELESS_REVISION } from '../../../wire/revisions.ts';
import { ask, type Cause, postExchange } from '../ask.ts';
import { askingOf, type BridgeContext } from '../context.ts';
import { callMessage, objectOf } from '../messages.ts';
import type { ToolSchemas } from '../tool-schemas.ts';

const MAX_PAGES = 50;
const LIST_HEADERS = { [HEADERS.protocolVersion]: LATEST_STATELESS_REVISION, [HEADERS.method]: 'tools/list' };

/** Reads the list (MCP 2026-07-28, Client Behavior: after HeaderMismatch). Returns false if the request failed. */
export async function refreshTools(
  context: BridgeContext,
  schemas: ToolSchemas,
  cause: Cause,
  meta: string,
): Promise<boolean> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const place = cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`;
    const body = callMessage('tools/list', `"skep-tools-${page}"`, `{"_meta":${meta}${place}}`);
    const asked = await ask(askingOf(context), postExchange(cause, 'stateless', body, LIST_HEADERS));
    const result = asked.ok ? asked.response?.message.result : undefined;
    if (!asked.ok || asked.response === undefined || result === undefined) return false;
    schemas.learn(asked.response.bytes, result);
    const { nextCursor } = objectOf(asked.response.bytes, result);
    if (typeof nextCursor !== 'string') return true;
    cursor = nextCursor;
  }
  return true;
}
