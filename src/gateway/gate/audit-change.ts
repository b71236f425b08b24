// Names both forms of a message that webhooks have changed, in its audit event: digests, since most events hold no contents.

import { sha256 } from '#std/hash.ts';
import { scanMessage } from '../wire/scan.ts';

const NAME_MAX = 512;

interface MessageMark {
  /** Of the bytes of the message. */
  readonly sha256: string;
  readonly bytes: number;
  /** Name of the tool, prompt or resource; absent if it has none. */
  readonly name?: string;
}

export interface WebhookChange {
  /** As the client sent it. */
  readonly received: MessageMark;
  /** As it went on. If it was refused after that, the server did not get it. */
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
