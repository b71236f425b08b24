// Applies the current rules to messages that the server sends without a request, and notifies the client when new rules
// change the client's lists.

import { isObject } from '#std/json.ts';
import type { Answer } from '../../backends/backend.ts';
import { isErrorStatus, type RewriteMessage, rewriteAnswer } from '../../backends/rewrite-answer.ts';
import { renameNotifiedTasks } from '../../wire/extensions/task-ids.ts';
import { isEventStream } from '../../wire/headers.ts';
import type { Message } from '../../wire/message.ts';
import { readValue } from '../../wire/scan.ts';
import { formatEvent } from '../../wire/sse.ts';
import type { Caller } from '../caller.ts';
import type { Rules } from '../rules.ts';

/** A list that new rules may change. */
export type ChangedList = 'tools' | 'prompts' | 'resources';

export interface LiveRules {
  readonly current: () => Rules;
  /** Calls `task` each time the rules are replaced. The returned function cancels the calls. */
  readonly onChange: (task: (lists: readonly ChangedList[]) => void) => () => void;
}

export interface LiveStream {
  readonly answer: Answer;
  /** Stops the notifications because the client no longer listens. */
  readonly close: () => void;
}

/** Subscription of a client of MCP 2026-07-28. Clients of older revisions have no subscription and get every change. */
export interface Subscription {
  /** JSON text of the request id. */
  readonly id: string;
  readonly lists: readonly ChangedList[];
  readonly resources: number;
}

/**
 * Maximum number of resources in a subscription. Policies decide on each resource, and the server gets a subscription
 * for each resource.
 */
export const SUBSCRIBED_RESOURCES_MAX = 100;

const NO_TASKS: ReadonlyMap<string, string> = new Map();

interface LiveOptions {
  readonly rules: LiveRules;
  readonly caller: Caller;
  readonly messageBytes: number;
  readonly subscription: Subscription | undefined;
  /** The client's task ids, by the server's ids. undefined if clients use the server's own ids. */
  readonly tasks: ReadonlyMap<string, string> | undefined;
}

export function openLiveStream(answer: Answer, options: LiveOptions): LiveStream {
  const { rules, caller, messageBytes, subscription } = options;
  let named = options.tasks;
  /** True if the proxy may add messages: after the head, or after the acknowledgement of a subscription. */
  let open = false;
  const seen: Answer = {
    head(status, headers) {
      open = subscription === undefined && isEventStream(headers['content-type']);
      answer.head(status, headers);
    },
    data(chunk) {
      open ||= subscription !== undefined;
      return answer.data(chunk);
    },
    end() {
      close();
      answer.end();
    },
    fail(fault) {
      close();
      answer.fail(fault);
    },
  };
  const unsubscribe = rules.onChange((lists) => {
    // The new rules have not decided about these tasks. The client must subscribe again to get their messages.
    named &&= NO_TASKS;
    if (!open) return;
    for (const list of lists) {
      if (subscription?.lists.includes(list) === false) continue;
      answer.data(formatEvent({ data: listChanged(list, subscription?.id), type: 'message' }));
    }
  });

  const filter = rewriteLive(rules, caller);
  const rewrite: RewriteMessage = (message) =>
    named === undefined ? filter(message) : renameNotifiedTasks(filter(message), named);

  function close(): void {
    open = false;
    unsubscribe();
  }

  return {
    answer: rewriteAnswer(seen, { messageBytes, rewrite, kept: isErrorStatus }),
    close,
  };
}

/** Returns a function that applies the current rules to a message that the server sends without a request. */
export function rewriteLive(rules: LiveRules, caller: Caller): RewriteMessage {
  return (message) => rules.current().answers(undefined, undefined, caller)?.(message) ?? message;
}

/** Returns the notification. `subscription` is the JSON text of the subscription's id. */
export function listChanged(list: ChangedList, subscription?: string): Buffer {
  const params = subscription && { _meta: { 'io.modelcontextprotocol/subscriptionId': JSON.parse(subscription) } };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: `notifications/${list}/list_changed`, params }));
}

const ASKED = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' } as const;

/** Reads the subscription from `subscriptions/listen`. Returns undefined for other messages. */
export function subscriptionOf(message: Message | undefined, body: Buffer | undefined): Subscription | undefined {
  if (message?.kind !== 'request' || message.method !== 'subscriptions/listen' || body === undefined) return undefined;
  const params = message.params === undefined ? undefined : readValue(body, message.params);
  const asked = isObject(params) && isObject(params.notifications) ? params.notifications : {};
  const lists = (['tools', 'prompts', 'resources'] as const).filter((list) => asked[ASKED[list]] === true);
  const { resourceSubscriptions: uris } = asked;
  return { id: message.id.json, lists, resources: Array.isArray(uris) ? uris.length : 0 };
}
