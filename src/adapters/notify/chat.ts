// Sends messages about runs to a chat.

import type { ChatMessage } from '#reconciler/run/notify/ports.ts';
import { isLoopback } from '#std/address/loopback.ts';
import { Failure } from '#std/failure.ts';
import type { Outbound } from '../http/outbound.ts';
import { deliver } from './send.ts';
import { slackBody } from './slack.ts';
import { teamsBody } from './teams.ts';

export interface ChatDelivery {
  readonly service: 'slack' | 'teams';
  /**
   * The URL is a secret, because every client that knows it may post. It is read at each use, and messages name only
   * its origin.
   */
  readonly url: () => Promise<string>;
}

const BODIES = { slack: slackBody, teams: teamsBody } as const;

/** Throws Failure `notify-failed`, and the failures of reading the URL. */
export async function sendChat(
  outbound: Outbound,
  { service, url: read }: ChatDelivery,
  chatMessage: ChatMessage,
): Promise<void> {
  const url = await read();
  if (!isSafe(URL.parse(url))) {
    const message = `The file that notify.chats names for ${service} does not hold an https URL: put the URL of the webhook into its first line.`;
    throw new Failure('notify-failed', message);
  }
  await deliver(outbound, { url, headers: {}, body: BODIES[service](chatMessage) });
}

/** Whether the URL is sent encrypted, or stays on this machine. Otherwise an eavesdropper could read and use it. */
function isSafe(url: URL | null): boolean {
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}
