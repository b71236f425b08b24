// Describes, for audit events, a message before and after webhooks changed it. Uses digests, because most events must
// not contain contents.

import { sha256 } from '#std/hash.ts';
import { scanMessage } from '../wire/scan.ts';

const NAME_MAX = 512;

interface MessageMark {
  /** Digest of the message body. */
  readonly sha256: string;
  readonly bytes: number;
  /** Name of the tool, prompt or resource. Absent if the message names no tool, prompt or resource. */
  readonly name?: string;
}

export interface WebhookChange {
  readonly received: MessageMark;
  /** Message after the changes. A later check may have refused this message, so the server may not have received it. */
  readonly changed: MessageMark;
}

export function webhookChange(received: Buffer, changed: Buffer): WebhookChange {
  return { received: markOf(received), changed: markOf(changed) };
}

function markOf(body: Buffer): MessageMark {
  const scanned = scanMessage(body);
  const target = scanned.ok && scanned.message.kind !== 'response' ? scanned.message.target : undefined;
  return { sha256: sha256(body), bytes: body.length, name: target && withoutUserInfo(target.value).slice(0, NAME_MAX) };
}

/** Removes the credential `//user:password@` from a URI. */
export function withoutUserInfo(text: string): string {
  return text.replace(/\/\/[^/?#@]*@/, '//');
}
