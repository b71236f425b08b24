// Writes the stream of one `subscriptions/listen`: an acknowledgement, followed by messages that carry the id of the
// subscription. While the client reads slowly, stores equal changes only once.

import type { JsonObject } from '#std/json.ts';
import type { NotificationMessage, RequestMessage } from '../../../wire/message.ts';
import { addMembers, applyPatches, replaceSpan } from '../edit.ts';
import { callMessage, resultMessage } from '../messages.ts';
import { coversUri, META_SERVER, META_SUBSCRIPTION, type ServerFacts } from '../protocol.ts';
import type { Reply } from '../reply.ts';

export interface Filter {
  /** Methods of the list notifications that the client gets. */
  readonly methods: ReadonlySet<string>;
  /** URIs of resources whose updates the client gets. */
  readonly uris: readonly string[];
  /** Ids of tasks whose changes the client gets (SEP-2663). */
  readonly taskIds?: readonly string[];
}

/** For each kind of change: the member of the client's filter, the server's capability, and the notification. */
export const CHANGES = [
  ['toolsListChanged', 'tools', 'notifications/tools/list_changed'],
  ['promptsListChanged', 'prompts', 'notifications/prompts/list_changed'],
  ['resourcesListChanged', 'resources', 'notifications/resources/list_changed'],
] as const;

export interface Outlet {
  /** Sends the acknowledgement, and after it the messages that arrived earlier. */
  begin(filter: Filter): void;
  notify(bytes: Buffer, message: NotificationMessage): void;
  resume(): void;
}

/** Maximum number of stored changes. A bound is necessary because servers may report any URI below a subscribed URI. */
const MAX_WAITING = 1000;

/** Creates the outlet. `id` is the id of the subscription as JSON text. */
export function createOutlet(reply: Reply, id: string): Outlet {
  const tag = tagOf(id);
  /** Stored changes by their content, so that equal changes are stored once. */
  const waiting = new Map<string, readonly [Buffer, NotificationMessage]>();
  let filter: Filter | undefined;
  let flowing = false;

  function sendWaiting(): void {
    for (const [key, [bytes, message]] of waiting) {
      if (!flowing) return;
      waiting.delete(key);
      flowing = reply.event(tagged(bytes, message, tag));
    }
  }

  return {
    begin(agreed) {
      filter = agreed;
      for (const [key, [, message]] of waiting) if (!passes(agreed, message)) waiting.delete(key);
      reply.stream();
      const acknowledged = callMessage('notifications/subscriptions/acknowledged', undefined, agreement(agreed, tag));
      flowing = reply.event(acknowledged);
      sendWaiting();
    },
    notify(bytes, message) {
      if (filter !== undefined && !passes(filter, message)) return;
      const key = `${message.method} ${message.target?.value ?? ''}`;
      if (waiting.size < MAX_WAITING || waiting.has(key)) waiting.set(key, [bytes, message]);
      if (flowing) sendWaiting();
    },
    resume() {
      flowing = filter !== undefined;
      sendWaiting();
    },
  };
}

function passes({ methods, uris, taskIds = [] }: Filter, message: NotificationMessage): boolean {
  if (message.method === 'notifications/tasks') return taskIds.includes(message.target?.value ?? '');
  if (message.method !== 'notifications/resources/updated') return methods.has(message.method);
  return coversUri(uris, message.target?.value ?? '');
}

function tagOf(id: string): string {
  return `"${META_SUBSCRIPTION}":${id}`;
}

function agreement({ methods, uris, taskIds = [] }: Filter, tag: string): string {
  const agreed: JsonObject = {};
  for (const [key, , method] of CHANGES) if (methods.has(method)) agreed[key] = true;
  if (uris.length > 0) agreed.resourceSubscriptions = [...uris];
  if (taskIds.length > 0) agreed.taskIds = [...taskIds];
  return `{"_meta":{${tag}},"notifications":${JSON.stringify(agreed)}}`;
}

/** Adds the id of the subscription to `_meta` of the notification. */
function tagged(bytes: Buffer, { params, meta }: NotificationMessage, tag: string): Buffer {
  if (meta !== undefined) return applyPatches(bytes, [addMembers(bytes, meta.span.start, tag)]);
  if (params !== undefined) return applyPatches(bytes, [addMembers(bytes, params.start, `"_meta":{${tag}}`)]);
  const end = bytes.lastIndexOf('}');
  return applyPatches(bytes, [replaceSpan({ start: end, end }, `,"params":{"_meta":{${tag}}}`)]);
}

/** Returns the response that ends a subscription without an error. */
export function closure({ id }: RequestMessage, { serverInfo }: ServerFacts): Buffer {
  const server = serverInfo === undefined ? '' : `,"${META_SERVER}":${JSON.stringify(serverInfo)}`;
  return resultMessage(id.json, `{"resultType":"complete","_meta":{${tagOf(id.json)}${server}}}`);
}
