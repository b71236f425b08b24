// Serves `subscriptions/listen` of a client of MCP 2026-07-28 on a session at the server. Subscribes to resources with
// `resources/subscribe`, and forwards notifications of the session.

import { isObject, type JsonObject } from '#std/json.ts';
import type { RequestMessage } from '../../../wire/message.ts';
import type { Flow } from '../../backend.ts';
import { objectOf } from '../messages.ts';
import type { Reply } from '../reply.ts';
import { askInSession, type BackendSession } from './backend-session.ts';
import type { StatelessClientContext } from './context.ts';
import { CHANGES, closure, createOutlet, type Filter } from './outlet.ts';
import type { SessionListener } from './participants.ts';
import { ensureStream } from './stream.ts';

/** Starts the subscription. Resolves with undefined if the client has disconnected. */
export async function listenInSession(
  context: StatelessClientContext,
  session: BackendSession,
  body: Buffer,
  request: RequestMessage,
  reply: Reply,
): Promise<Flow | undefined> {
  const requested = objectOf(body, request.params).notifications;
  const outlet = createOutlet(reply, request.id.json);
  let uris: readonly string[] = [];

  function leave(): boolean {
    if (!session.listeners.delete(listener)) return false;
    for (const uri of uris) unwatch(context, session, uri);
    return true;
  }

  const listener: SessionListener = {
    notify: outlet.notify,
    lose() {
      if (leave()) reply.fail({ reason: 'closed', message: 'the session at the MCP server has ended' });
    },
    end() {
      if (leave()) reply.finish(closure(request, session.facts));
    },
  };
  session.listeners.add(listener);
  await ensureStream(context, session, () => context.pool.lose(session));
  const filter = await subscribe(context, session, isObject(requested) ? requested : {});
  uris = filter.uris;
  if (reply.closed()) {
    session.listeners.delete(listener);
    for (const uri of uris) unwatch(context, session, uri);
    return undefined;
  }
  outlet.begin(filter);
  return {
    abort() {
      reply.drop();
      leave();
    },
    resume: outlet.resume,
  };
}

/** Subscribes at the server. Returns the part of the requested filter that the server supports. */
async function subscribe(context: StatelessClientContext, session: BackendSession, asked: JsonObject): Promise<Filter> {
  const { capabilities } = session.facts;
  const methods = new Set<string>();
  for (const [key, feature, method] of CHANGES) {
    const offered = capabilities[feature];
    if (asked[key] === true && isObject(offered) && offered.listChanged === true) methods.add(method);
  }
  const { resourceSubscriptions } = asked;
  const listed = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [];
  const texts = [...new Set(listed.filter((each) => typeof each === 'string'))];
  const watchable = isObject(capabilities.resources) && capabilities.resources.subscribe === true;
  const watched = watchable ? await Promise.all(texts.map((uri) => watch(context, session, uri))) : [];
  return { methods, uris: texts.filter((_, index) => watched[index] === true) };
}

async function watch(context: StatelessClientContext, session: BackendSession, uri: string): Promise<boolean> {
  const count = session.watched.get(uri) ?? 0;
  session.watched.set(uri, count + 1);
  if (count > 0) return true;
  const asked = await askInSession(context, session, 'resources/subscribe', { uri });
  if (asked.ok && asked.response?.message.result !== undefined) return true;
  release(session, uri);
  return false;
}

function unwatch(context: StatelessClientContext, session: BackendSession, uri: string): void {
  if (release(session, uri) && !session.ended) void askInSession(context, session, 'resources/unsubscribe', { uri });
}

/** Removes one listener of the URI. Returns true if the URI has no more listeners. */
function release({ watched }: BackendSession, uri: string): boolean {
  const count = (watched.get(uri) ?? 0) - 1;
  if (count > 0) watched.set(uri, count);
  else watched.delete(uri);
  return count === 0;
}
