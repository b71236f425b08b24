// Listens for list changes at members that have the same lists for all callers.

import type { Flow } from '../../backends/backend.ts';
import { type Cause, postExchange } from '../../backends/bridge/ask.ts';
import { callMessage } from '../../backends/bridge/messages.ts';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from '../../backends/bridge/protocol.ts';
import { readAnswer } from '../../backends/bridge/reading.ts';
import { HEADERS } from '../../wire/headers.ts';
import { LATEST_STATELESS_REVISION } from '../../wire/revisions.ts';
import { type Member, type Members, ownCause } from '../members/member.ts';

export interface ListeningParts {
  readonly members: Members;
  readonly messageBytes: number;
  readonly clock: { after(ms: number, task: () => void): () => void };
  readonly changed: (member: string) => void;
}

export interface MemberListening {
  /** Begins to listen at new members, and stops at removed members. */
  renew(): void;
  stop(): void;
}

/** Delays between attempts to listen. If a member never accepts, its lists are still read at intervals. */
const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 60_000;

const HEADERS_OF_LISTEN = {
  [HEADERS.protocolVersion]: LATEST_STATELESS_REVISION,
  [HEADERS.method]: 'subscriptions/listen',
};

const BODY = callMessage(
  'subscriptions/listen',
  '"skep-lists"',
  JSON.stringify({
    _meta: {
      [META_VERSION]: LATEST_STATELESS_REVISION,
      [META_CAPABILITIES]: {},
      [META_CLIENT]: { name: 'skep', version: '1' },
    },
    notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
  }),
);

const LISTS = /^notifications\/(tools|prompts|resources)\/list_changed$/;

export function listenToMembers(parts: ListeningParts): MemberListening {
  const open = new Map<string, { readonly member: Member; readonly stop: () => void }>();

  function renew(): void {
    const now = new Map(parts.members.all().map((member) => [member.name, member]));
    for (const [name, { member, stop }] of open) {
      if (now.get(name) === member) continue;
      stop();
      open.delete(name);
    }
    for (const member of now.values()) {
      // A stream would keep a member awake even if the member could sleep.
      if (!member.perCaller && member.sleeps === undefined && !open.has(member.name))
        open.set(member.name, { member, stop: listenTo(parts, member) });
    }
  }

  renew();
  return {
    renew,
    stop() {
      for (const { stop } of open.values()) stop();
      open.clear();
    },
  };
}

function listenTo(parts: ListeningParts, member: Member): () => void {
  const cause: Cause = ownCause(member);
  let flow: Flow | undefined;
  let stopTimer: (() => void) | undefined;
  let stopped = false;
  let retryMs = RETRY_MIN_MS;

  function again(): void {
    if (stopped) return;
    stopTimer = parts.clock.after(retryMs, start);
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
  }

  function start(): void {
    const answer = readAnswer(
      {
        head: () => undefined,
        message(_bytes, message) {
          if (message.kind !== 'notification') return;
          retryMs = RETRY_MIN_MS;
          if (LISTS.test(message.method)) parts.changed(member.name);
        },
        part: () => true,
        end: again,
        fail: again,
      },
      parts.messageBytes,
    );
    flow = member.backend.open(postExchange(cause, 'stateless', BODY, HEADERS_OF_LISTEN), answer);
  }

  start();
  return () => {
    stopped = true;
    stopTimer?.();
    flow?.abort();
  };
}
