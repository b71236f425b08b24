// `subscriptions/listen` at a virtual server (2026-07-28): word of changed lists is its own, updates of resources come from
// the members that have them.

import { isObject } from '#std/json.ts';
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
import { HEADERS } from '../../wire/headers.ts';
import { messagePatches } from '../../wire/ids.ts';
import type { RequestMessage } from '../../wire/message.ts';
import { LATEST_STATELESS_REVISION } from '../../wire/revisions.ts';
import { scanMessage } from '../../wire/scan.ts';
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
  const wanted = isObject(notifications) ? notifications : {};
  const outlet = createOutlet(reply, request.id.json);
  const methods = new Set<string>(CHANGES.flatMap(([key, , method]) => (wanted[key] === true ? [method] : [])));
  const owners = ownersOf(world, offer, wanted.resourceSubscriptions);
  const stopWatching = world.catalogue.watch(exchange, (lists) => {
    for (const method of new Set(lists.map((list) => LISTS[list].changed)))
      notify(outlet, callMessage(method, undefined));
  });
  const uris = [...owners.values()].flat().map(({ uri }) => uri);
  outlet.begin({ methods, uris });
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

/** One URI, as the client and as the member has it. */
interface SubscribedUri {
  readonly uri: string;
  readonly own: string;
}

function ownersOf({ members }: World, offer: Offer, wanted: unknown): ReadonlyMap<Member, readonly SubscribedUri[]> {
  const uris = Array.isArray(wanted) ? wanted.filter((each) => typeof each === 'string') : [];
  const owned = uris.flatMap((uri) => {
    const route = offer.findResource(uri);
    const owner = route && members.find(route.member);
    return route === undefined || owner === undefined ? [] : [{ uri, owner, own: route.own }];
  });
  return Map.groupBy(owned, ({ owner }) => owner);
}

function notify(outlet: Outlet, bytes: Buffer): void {
  const scanned = scanMessage(bytes);
  if (scanned.ok && scanned.message.kind === 'notification') outlet.notify(bytes, scanned.message);
}

const RETRY_MS = 5000;

/** Again and again while the client listens: members come back. */
function subscribeAt(
  world: World,
  member: Member,
  uris: readonly SubscribedUri[],
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
    const body = callMessage(
      'subscriptions/listen',
      '"skep-listen"',
      subscriptionParams([...new Set(uris.map(({ own }) => own))]),
    );
    const answer = readAnswer(
      {
        head: () => undefined,
        message(bytes, message) {
          if (message.kind !== 'notification' || message.method !== 'notifications/resources/updated') return;
          // The id of the subscription is the member's, and the client has another one.
          const meta = message.meta && changeMembers(bytes, message.meta.span.start, isSubscription);
          for (const target of namesOf(uris, message.target?.value ?? '')) {
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

/** The names under which the client has subscribed to a resource of the member, or to a part of one. */
function namesOf(uris: readonly SubscribedUri[], updated: string): readonly string[] {
  const covering = uris.filter(({ own }) => coversUri([own], updated));
  return covering.map(({ uri, own }) => uri + updated.slice(own.length));
}

function isSubscription(key: string): boolean {
  return key === META_SUBSCRIPTION;
}

function subscriptionParams(uris: readonly string[]): string {
  const meta = {
    [META_VERSION]: LATEST_STATELESS_REVISION,
    [META_CAPABILITIES]: {},
    [META_CLIENT]: { name: 'skep', version: '1' },
  };
  return JSON.stringify({ _meta: meta, notifications: { resourceSubscriptions: uris } });
}
