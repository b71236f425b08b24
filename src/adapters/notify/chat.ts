// Sends messages about runs to a chat.

import type { ChatMessage } from '#reconciler/run/notify/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Outbound } from '../http/outbound.ts';
import { deliver } from './send.ts';
import { slackBody } from './slack.ts';
import { teamsBody } from './teams.ts';

export interface ChatDelivery {
  readonly service: 'slack' | 'teams';
  /** Whoever has the URL may post: it is read at each use, and no message names more of it than its origin. */
  readonly url: () => Promise<string>;
}

const BODIES = { slack: slackBody, teams: teamsBody } as const;

/** Throws Failure `notify-failed`, and what reading the URL throws. */
export async function sendChat(
  outbound: Outbound,
  { service, url: read }: ChatDelivery,
  message: ChatMessage,
): Promise<void> {
  const url = await read();
  const { protocol } = URL.parse(url) ?? {};
  if (protocol !== 'https:' && protocol !== 'http:') {
    const what = `the file that notify.chats names for ${service} holds no https URL: put the URL of the webhook into its first line`;
    throw new Failure('notify-failed', what);
  }
  await deliver(outbound, { url, headers: {}, body: BODIES[service](message) });
}
