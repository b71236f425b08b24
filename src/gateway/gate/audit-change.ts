// Describes, for audit events, a message before and after webhooks changed it. The forms are digests, since most events
// contain no contents.

import { sha256 } from '#std/hash.ts';
import { scanMessage } from '../wire/scan.ts';

const NAME_MAX = 512;

interface MessageMark {
  /** Digest of the bytes of the message. */
  readonly sha256: string;
  readonly bytes: number;
  /** Name of the tool, prompt or resource; absent if it has none. */
  readonly name?: string;
}

export interface WebhookChange {
  /** The message that the client sent. */
  readonly received: MessageMark;
  /** The changed message. The server did not get it if the message was refused later. */
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

/** `//user:password@` of a URI is a credential. */
export function withoutUserInfo(text: string): string {
  return text.replace(/\/\/[^/?#@]*@/, '//');
}
