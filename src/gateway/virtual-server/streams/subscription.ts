// Serves `subscriptions/listen` (MCP 2026-07-28). Reports changed lists of the virtual server, and forwards members'
// notifications about resources and tasks.

import { isObject, type JsonObject, textsIn } from '#std/json.ts';
import type { Answer, Exchange, Flow } from '../../backends/backend.ts';
import { postExchange } from '../../backends/bridge/ask.ts';
import { applyPatches, changeMembers } from '../../backends/bridge/edit.ts';
import { callMessage, objectOf } from '../../backends/bridge/messages.ts';
import {
  coversUri,
  META_CAPABILITIES,
  META_CLIENT,
  META_SUBSCRIPTION,
  META_VERSION,
} from '../../backends/bridge/protocol.ts';
import { readAnswer } from '../../backends/bridge/reading.ts';
import { createReply } from '../../backends/bridge/reply.ts';
import { CHANGES, createOutlet, type Outlet } from '../../backends/bridge/stateless-client/outlet.ts';
import { TASKS } from '../../wire/extensions/identifiers.ts';
import { HEADERS } from '../../wire/headers.ts';
import { messagePatches } from '../../wire/ids.ts';
import type { NotificationMessage, RequestMessage } from '../../wire/message.ts';
import { LATEST_STATELESS_REVISION } from '../../wire/revisions.ts';
import { scanMessage } from '../../wire/scan.ts';
import { readTaskOfMember } from '../calls/name-tasks.ts';
import type { Offer } from '../catalogue/assemble.ts';
import { LISTS } from '../catalogue/list-names.ts';
import { type Member, memberCause } from '../members/member.ts';
import type { World } from '../world.ts';

export function openSubscription(
  world: World,
  offer: Offer,
  exchange: Exchange,
  body: Buffer,
  request: RequestMessage,
  answer: Answer,
): Flow {
  const reply = createReply(answer);
  const { notifications } = objectOf(body, request.params);
  const requested = isObject(notifications) ? notifications : {};
  const outlet = createOutlet(reply, request.id.json);
  const methods = new Set<string>(CHANGES.flatMap(([key, , method]) => (requested[key] === true ? [method] : [])));
  const owners = ownersOf(world, offer, requested);
  const stopWatching = world.catalogue.watch(exchange, (lists) => {
    for (const method of new Set(lists.map((list) => LISTS[list].changed)))
      notify(outlet, callMessage(method, undefined));
  });
  const subscribed = [...owners.values()].flat();
  const [uris, taskIds] = [namesIn(subscribed, 'resource'), namesIn(subscribed, 'task')];
  outlet.begin({ methods, uris, taskIds });
  const flows = [...owners].map(([member, own]) => subscribeAt(world, member, own, exchange, outlet));

  return {
    abort() {
      reply.drop();
      stopWatching();
      for (const flow of flows) flow.abort();
    },
    resume: outlet.resume,
  };
}

/** A subscribed resource or task. `name` is the client's name for it, `own` the member's name. */
interface Subscribed {
  readonly kind: 'resource' | 'task';
  readonly name: string;
  readonly own: string;
}

function ownersOf({ members }: World, offer: Offer, requested: JsonObject): ReadonlyMap<Member, readonly Subscribed[]> {
  const routed = [
    ...textsIn(requested.resourceSubscriptions).map(
      (name) => ({ kind: 'resource', name, to: offer.findResource(name) }) as const,
    ),
    ...textsIn(requested.taskIds).map((name) => ({ kind: 'task', name, to: readTaskOfMember(name) }) as const),
  ];
  const owned = routed.flatMap(({ to, ...each }) => {
    const owner = to && members.find(to.member);
    return to === undefined || owner === undefined ? [] : [{ ...each, owner, own: to.own }];
  });
  return Map.groupBy(owned, ({ owner }) => owner);
}

function namesIn(subscribed: readonly Subscribed[], kind: Subscribed['kind']): readonly string[] {
  return subscribed.filter((each) => each.kind === kind).map(({ name }) => name);
}

function notify(outlet: Outlet, bytes: Buffer): void {
  const scanned = scanMessage(bytes);
  if (scanned.ok && scanned.message.kind === 'notification') outlet.notify(bytes, scanned.message);
}

const RETRY_MS = 5000;

/** Subscribes at a member, and again whenever the subscription ends, since a failed member may recover. */
function subscribeAt(
  world: World,
  member: Member,
  subscribed: readonly Subscribed[],
  exchange: Exchange,
  outlet: Outlet,
): Flow {
  const headers = { [HEADERS.protocolVersion]: LATEST_STATELESS_REVISION, [HEADERS.method]: 'subscriptions/listen' };
  let flow: Flow | undefined;
  let stopTimer: (() => void) | undefined;
  let closed = false;

  function again(): void {
    if (!closed) stopTimer = world.clock.after(RETRY_MS, open);
  }

  function open(): void {
    const body = callMessage('subscriptions/listen', '"skep-listen"', subscriptionParams(subscribed));
    const answer = readAnswer(
      {
        head: () => undefined,
        message(bytes, message) {
          if (message.kind !== 'notification') return;
          // Removes the id of the subscription at the member, because the client does not know this id.
          const meta = message.meta && changeMembers(bytes, message.meta.span.start, isSubscription);
          for (const target of namesOf(subscribed, message)) {
            notify(outlet, applyPatches(bytes, [...(meta ?? []), ...messagePatches(message, { target })]));
          }
        },
        part: () => true,
        end: again,
        fail: again,
      },
      world.messageBytes,
    );
    flow = member.backend.open(postExchange(memberCause(member, exchange), 'stateless', body, headers), answer);
  }

  open();
  return {
    abort() {
      closed = true;
      stopTimer?.();
      flow?.abort();
    },
    resume: () => undefined,
  };
}

/** Returns the client's names of the updated task or resource. A subscription also covers parts of its resource. */
function namesOf(subscribed: readonly Subscribed[], { method, target }: NotificationMessage): readonly string[] {
  const changed = target?.value ?? '';
  return subscribed.flatMap(({ kind, name, own }) => {
    if (kind === 'task') return method === 'notifications/tasks' && changed === own ? [name] : [];
    const isCovered = method === 'notifications/resources/updated' && coversUri([own], changed);
    return isCovered ? [name + changed.slice(own.length)] : [];
  });
}

function isSubscription(key: string): boolean {
  return key === META_SUBSCRIPTION;
}

function subscriptionParams(subscribed: readonly Subscribed[]): string {
  const ownsOf = (kind: Subscribed['kind']) => [
    ...new Set(subscribed.filter((each) => each.kind === kind).map(({ own }) => own)),
  ];
  const [resourceSubscriptions, taskIds] = [ownsOf('resource'), ownsOf('task')];
  const meta = {
    [META_VERSION]: LATEST_STATELESS_REVISION,
    [META_CAPABILITIES]: taskIds.length > 0 ? { extensions: { [TASKS]: {} } } : {},
    [META_CLIENT]: { name: 'skep', version: '1' },
  };
  const notifications = { resourceSubscriptions, ...(taskIds.length > 0 ? { taskIds } : {}) };
  return JSON.stringify({ _meta: meta, notifications });
}
