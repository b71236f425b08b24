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
   * Returns the chat's URL. The URL is secret, because everyone who knows it may post. Called before each message.
   * Error messages contain only the origin of the URL.
   */
  readonly url: () => Promise<string>;
}

const BODIES = { slack: slackBody, teams: teamsBody } as const;

/** Throws Failure `notify-failed`, and failures of `url`. */
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

/**
 * True if the request is encrypted or does not leave this machine. Otherwise an eavesdropper could read and use the
 * URL.
 */
function isSafe(url: URL | null): boolean {
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}
