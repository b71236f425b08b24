// Replaces ids, progress tokens and names in the bytes of a scanned message.

import type { Message, Span } from './message.ts';
import { jsonString, type Patch, patchBytes } from './patch.ts';

/**
 * New values for parts of a message, as JSON texts except `target`. Parts that the message does not have are not added.
 */
export interface MessageChanges {
  readonly id?: string;
  readonly progressToken?: string;
  readonly subscriptionId?: string;
  /** Replaces `params.requestId` of a cancellation, or `params.progressToken` of a progress notification. */
  readonly refersTo?: string;
  /** Name or URI of the target, as plain text. */
  readonly target?: string;
}

/**
 * Returns the body with another id. Returns the body itself if the message has no id. `json` is a JSON text such as `7`
 * or `"a"`.
 */
export function patchId(body: Buffer, message: Message, json: string): Buffer {
  return patchMessage(body, message, { id: json });
}

export function patchProgressToken(body: Buffer, message: Message, json: string): Buffer {
  return patchMessage(body, message, { progressToken: json });
}

/** Returns the body with another tool name or URI. In the stateless era, the caller must also change `Mcp-Name`. */
export function patchTarget(body: Buffer, message: Message, target: string): Buffer {
  return patchMessage(body, message, { target });
}

export function patchMessage(body: Buffer, message: Message, changes: MessageChanges): Buffer {
  return patchBytes(body, messagePatches(message, changes));
}

/** Returns the patches of the changes, sorted by position. A caller can add its own patches. */
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
