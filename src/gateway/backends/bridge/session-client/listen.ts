// Serves the GET stream of a client with sessions. The stream carries notifications of a `subscriptions/listen` at a
// server of MCP 2026-07-28. When the client's subscriptions change, a new `subscriptions/listen` replaces the old one.

import { isObject, type JsonObject } from '#std/json.ts';
import type { NotificationMessage } from '../../../wire/message.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../../backend.ts';
import { NO_FLOW } from '../context.ts';
import { applyPatches, changeMembers } from '../edit.ts';
import { coversUri, META_SUBSCRIPTION } from '../protocol.ts';
import { createReply, type Reply } from '../reply.ts';
import type { SessionClientContext } from './context.ts';
import type { ClientListener, ClientState } from './states.ts';
import { openSubscription } from './subscription.ts';

interface Listening {
  readonly context: SessionClientContext;
  readonly state: ClientState;
  readonly exchange: Exchange;
  readonly capabilities: JsonObject;
  readonly reply: Reply;
  /** Subscription whose notifications the client gets. */
  current?: Flow;
  /** Subscription that replaces `current` as soon as the server acknowledges it. */
  next?: Flow;
  /** Resolves the promise of the last `subscribeAnew`. */
  settled: () => void;
}

export function openListener(
  context: SessionClientContext,
  state: ClientState,
  exchange: Exchange,
  capabilities: JsonObject,
  answer: Answer,
): Flow {
  const reply = createReply(answer);
  if (!isWorthListening(capabilities)) {
    // 405: the server reports no changes (MCP 2025-11-25, Transports, Listening for Messages from the Server).
    reply.end(405);
    return NO_FLOW;
  }
  const listening: Listening = { context, state, exchange, capabilities, reply, settled: () => undefined };
  const listener: ClientListener = {
    renew: () => subscribeAnew(listening),
    end: () => close(() => reply.end(200)),
  };

  function close(finish: () => void): void {
    if (state.listener === listener) state.listener = undefined;
    finish();
    listening.current?.abort();
    listening.next?.abort();
    listening.settled();
  }

  // A client that opens a second stream has lost its first stream.
  state.listener?.end();
  state.listener = listener;
  reply.stream();
  void subscribeAnew(listening);
  return {
    abort: () => close(() => reply.drop()),
    resume: () => listening.current?.resume(),
  };
}

function isWorthListening({ tools, prompts, resources }: JsonObject): boolean {
  const lists = [tools, prompts, resources].some((each) => isObject(each) && each.listChanged === true);
  return lists || (isObject(resources) && resources.subscribe === true);
}

/**
 * Returns a filter for changes that the server can report and for resources that the client has subscribed to.
 * undefined if the filter would be empty.
 */
function filterOf(
  { tools, prompts, resources }: JsonObject,
  subscriptions: ReadonlySet<string>,
): JsonObject | undefined {
  const changes = (each: unknown) => (isObject(each) && each.listChanged === true ? true : undefined);
  const filter = {
    toolsListChanged: changes(tools),
    promptsListChanged: changes(prompts),
    resourcesListChanged: changes(resources),
    resourceSubscriptions: subscriptions.size === 0 ? undefined : [...subscriptions],
  };
  return Object.values(filter).some((each) => each !== undefined) ? filter : undefined;
}

/**
 * Replaces the subscription at the server. Resolves when the server has acknowledged the new subscription, when a newer
 * subscription replaces it, or after `askMs`.
 */
function subscribeAnew(listening: Listening): Promise<void> {
  const { context, state, exchange, capabilities, reply } = listening;
  if (reply.closed()) return Promise.resolve();
  listening.next?.abort();
  listening.next = undefined;
  listening.settled();
  const filter = filterOf(capabilities, state.subscriptions);
  if (filter === undefined) {
    listening.current?.abort();
    listening.current = undefined;
    return Promise.resolve();
  }
  const flow = openSubscription(context, exchange, state.identity, filter, {
    acknowledged() {
      if (listening.next !== flow) return;
      listening.current?.abort();
      listening.current = flow;
      listening.next = undefined;
      listening.settled();
    },
    notify: (bytes, message) => listening.current !== flow || send(listening, bytes, message),
    over(fault) {
      if (listening.current === flow || listening.next === flow) endStream(listening, fault);
    },
  });
  listening.next = flow;
  return new Promise((resolve) => {
    const stopTimer = context.ports.clock.after(context.limits.askMs, resolve);
    listening.settled = () => {
      stopTimer();
      resolve();
    };
  });
}

/** Ends the client's stream because the server has ended the subscription. The client then opens a new stream. */
function endStream({ reply, state }: Listening, fault: BackendFault | undefined): void {
  if (fault === undefined) reply.end(200);
  else reply.fail(fault);
  state.listener?.end();
}

function send({ state, reply }: Listening, bytes: Buffer, message: NotificationMessage): boolean {
  // Before the new subscription begins, the server still reports resources that the client has unsubscribed from.
  const updated = message.method === 'notifications/resources/updated';
  if (updated && !coversUri(state.subscriptions, message.target?.value ?? '')) return true;
  return reply.event(withoutSubscription(bytes, message));
}

function withoutSubscription(bytes: Buffer, { meta }: NotificationMessage): Buffer {
  const patches =
    meta === undefined ? undefined : changeMembers(bytes, meta.span.start, (key) => key === META_SUBSCRIPTION);
  return patches === undefined ? bytes : applyPatches(bytes, patches);
}
