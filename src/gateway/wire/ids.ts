// Puts other ids, progress tokens and names into the bytes of a scanned message.

import type { Message, Span } from './message.ts';
import { jsonString, type Patch, patchBytes } from './patch.ts';

/** What to put in the places that the message has; a place that it does not have stays absent. JSON texts, but `target`. */
export interface MessageChanges {
  readonly id?: string;
  readonly progressToken?: string;
  readonly subscriptionId?: string;
  /** `params.requestId` of a cancellation, `params.progressToken` of a progress notification. */
  readonly refersTo?: string;
  /** A text, not JSON. */
  readonly target?: string;
}

/** The body with another id; the body itself where the message has none. `json` is a JSON text such as `7` or `"a"`. */
export function patchId(body: Buffer, message: Message, json: string): Buffer {
  return patchMessage(body, message, { id: json });
}

export function patchProgressToken(body: Buffer, message: Message, json: string): Buffer {
  return patchMessage(body, message, { progressToken: json });
}

/** The body with another tool name or URI. In the stateless era `Mcp-Name` has to change with it. */
export function patchTarget(body: Buffer, message: Message, target: string): Buffer {
  return patchMessage(body, message, { target });
}

/** All changes at once, in one copy. */
export function patchMessage(body: Buffer, message: Message, changes: MessageChanges): Buffer {
  return patchBytes(body, messagePatches(message, changes));
}

/** Sorted, for whoever has patches of its own to add. */
export function messagePatches(message: Message, changes: MessageChanges): Patch[] {
  const patches: Patch[] = [];
  function add(span: Span | undefined, bytes: Buffer | undefined): void {
    if (span !== undefined && bytes !== undefined) patches.push({ span, bytes });
  }
  const { id, progressToken, subscriptionId, refersTo, target } = changes;
  add(message.kind === 'notification' ? undefined : message.id?.span, jsonBytes(id));
  if (message.kind !== 'response') {
    add(message.meta?.progressToken?.span, jsonBytes(progressToken));
    add(message.meta?.subscriptionId?.span, jsonBytes(subscriptionId));
    add(message.refersTo?.span, jsonBytes(refersTo));
    add(message.target?.span, target === undefined ? undefined : jsonString(target));
  }
  return patches.sort((a, b) => a.span.start - b.span.start);
}

function jsonBytes(json: string | undefined): Buffer | undefined {
  return json === undefined ? undefined : Buffer.from(json);
}
