// Serves clients with sessions. The virtual server has its own session with the client, and opens sessions at members
// for the client.

import { isObject } from '#std/json.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../backends/backend.ts';
import { createLaterFlow, NO_FLOW } from '../backends/bridge/context.ts';
import { objectOf, resultMessage } from '../backends/bridge/messages.ts';
import { LOG_LEVELS } from '../backends/bridge/protocol.ts';
import { createReply } from '../backends/bridge/reply.ts';
import { refuseSubscription } from '../backends/bridge/subscription-room.ts';
import { ERRORS, errorBody } from '../wire/errors.ts';
import { HEADERS } from '../wire/headers.ts';
import type { Message, RequestMessage } from '../wire/message.ts';
import { nameContents } from './calls/name-contents.ts';
import { nameTasks } from './calls/name-tasks.ts';
import { openAtMember, renameTarget, storeFault } from './calls/open-call.ts';
import { type RequestRoute, routeRequest } from './calls/route.ts';
import { readMemberAppUri } from './catalogue/apps.ts';
import type { Offer } from './catalogue/assemble.ts';
import { listNameOf } from './catalogue/list-names.ts';
import { agreedRevision, answerFromOffer, initializeMessage, listMessage } from './lists-answer.ts';
import { type OptimizedCall, passOptimizer } from './optimizer/calls.ts';
import { sendNotification, sendResponse, setLogLevel } from './session-messages.ts';
import { endMemberSessions } from './sessions/open-member.ts';
import type { Session } from './sessions/session.ts';
import { openListener } from './streams/listener.ts';
import type { World } from './world.ts';

const UNKNOWN: BackendFault = { reason: 'session-unknown', message: 'the session is not known, or has ended' };

export function openSessionExchange(world: World, exchange: Exchange, answer: Answer): Flow {
  const { session: id, message, body } = exchange;
  if (message?.kind === 'request' && message.method === 'initialize' && body !== undefined) {
    return beginSession(world, exchange, body, message, answer);
  }
  if (id === undefined) {
    const request = message?.kind === 'request' ? message.id : undefined;
    createReply(answer).finish(errorBody(request, ERRORS.badRequest, 'Bad Request: Mcp-Session-Id is missing'), 400);
    return NO_FLOW;
  }
  const found = world.sessions.find(id);
  if (!(found instanceof Promise)) return openIn(world, found, exchange, answer);
  const flow = createLaterFlow();
  found.then(
    (session) => {
      if (!flow.aborted()) flow.begin(openIn(world, session, exchange, answer));
    },
    (error: unknown) => answer.fail(storeFault(error)),
  );
  return flow;
}

function openIn(world: World, session: Session | undefined, exchange: Exchange, answer: Answer): Flow {
  const { method, body, message } = exchange;
  if (session === undefined) {
    answer.fail(UNKNOWN);
    return NO_FLOW;
  }
  session.last = withoutMessage(exchange);
  if (method === 'GET') return openListener(world, session, exchange, answer);
  if (method === 'DELETE') return endSession(world, session, answer);
  if (body === undefined || message === undefined) {
    createReply(answer).end(400);
    return NO_FLOW;
  }
  return openPost(world, session, exchange, body, message, answer);
}

/** Removes the message, so that its bytes do not stay in memory with the session. */
function withoutMessage(exchange: Exchange): Exchange {
  return { ...exchange, body: undefined, message: undefined };
}

function endSession(world: World, session: Session, answer: Answer): Flow {
  endMemberSessions(world, session);
  world.sessions.end(session).then(
    () => createReply(answer).end(204),
    (error: unknown) => answer.fail(storeFault(error)),
  );
  return NO_FLOW;
}

function beginSession(world: World, exchange: Exchange, body: Buffer, request: RequestMessage, answer: Answer): Flow {
  const flow = createLaterFlow();
  const { capabilities, clientInfo } = objectOf(body, request.params);
  const revision = agreedRevision(request.requestedVersion);
  const client = {
    revision,
    capabilities: isObject(capabilities) ? { ...capabilities } : {},
    ...(isObject(clientInfo) ? { clientInfo: { ...clientInfo } } : {}),
  };
  async function begin(): Promise<void> {
    const offered = await world.catalogue.offer(exchange);
    if (flow.aborted()) return;
    if (!offered.ok) return answer.fail(offered.fault);
    const session = await world.sessions.begin(client, withoutMessage(exchange));
    const headers = { [HEADERS.sessionId]: session.id };
    createReply(answer).finish(initializeMessage(request, revision, offered.offer, world), 200, headers);
  }
  begin().catch((error: unknown) => answer.fail(storeFault(error)));
  return flow;
}

function openPost(
  world: World,
  session: Session,
  exchange: Exchange,
  body: Buffer,
  message: Message,
  answer: Answer,
): Flow {
  switch (message.kind) {
    case 'response':
      return sendResponse(world, session, exchange, body, message, answer);
    case 'notification':
      return sendNotification(world, session, exchange, body, message, answer);
    case 'request':
      return request(world, session, exchange, body, message, answer);
  }
}

function request(
  world: World,
  session: Session,
  exchange: Exchange,
  body: Buffer,
  message: RequestMessage,
  answer: Answer,
): Flow {
  const { method, id } = message;
  if (method === 'ping') {
    createReply(answer).finish(resultMessage(id.json, '{}'));
    return NO_FLOW;
  }
  if (method === 'logging/setLevel') {
    const { level } = objectOf(body, message.params);
    if (typeof level === 'string' && LOG_LEVELS.includes(level))
      return setLogLevel(world, session, exchange, id, level, answer);
    createReply(answer).finish(
      errorBody(id, ERRORS.invalidParams, `Invalid params: no log level ${JSON.stringify(level)}`),
    );
    return NO_FLOW;
  }
  const name = listNameOf(method);
  if (name !== undefined) {
    const capabilities = () => session.client.capabilities;
    const as = { era: exchange.era, server: world, shared: true, capabilities };
    return answerFromOffer(world.catalogue.offer(exchange), answer, (offer) =>
      listMessage(name, body, message, offer, as),
    );
  }
  const routes = world.catalogue.routes(exchange);
  if (!(routes instanceof Promise)) return forwardInSession(world, session, routes, exchange, body, message, answer);
  const flow = createLaterFlow();
  routes.then((offer) => {
    if (!flow.aborted()) flow.begin(forwardInSession(world, session, offer, exchange, body, message, answer));
  });
  return flow;
}

function forwardInSession(
  world: World,
  session: Session,
  offer: Offer,
  exchange: Exchange,
  body: Buffer,
  message: RequestMessage,
  answer: Answer,
): Flow {
  const passed = passOptimizer(world, offer, { exchange, body, request: message }, answer);
  if ('flow' in passed) return passed.flow;
  return forwardCall(world, session, offer, passed.call, answer);
}

/** Finds the member that has a subscription. The URI may belong to another member by now. */
function subscriptionRoute({ subscriptions }: Session, { target }: RequestMessage): RequestRoute | undefined {
  const uri = target?.value ?? '';
  const member = subscriptions.get(uri);
  return member === undefined ? undefined : { member, own: readMemberAppUri(uri)?.own ?? uri };
}

function forwardCall(
  world: World,
  session: Session,
  offer: Offer,
  { exchange, body, request: message }: OptimizedCall,
  answer: Answer,
): Flow {
  const subscribed = message.method === 'resources/unsubscribe' ? subscriptionRoute(session, message) : undefined;
  const route = subscribed ?? routeRequest(offer, body, message, 'session');
  const member = route.error === undefined ? world.members.find(route.member) : undefined;
  if (route.error !== undefined || member === undefined) {
    createReply(answer).finish(
      route.error ?? errorBody(message.id, ERRORS.internalError, 'The backend was just removed'),
    );
    return NO_FLOW;
  }
  const uri = message.target?.value ?? '';
  const subscribes = message.method === 'resources/subscribe';
  const refusal = subscribes ? refuseSubscription(session.subscriptions.keys(), uri, message.id) : undefined;
  if (refusal !== undefined) {
    createReply(answer).finish(refusal);
    return NO_FLOW;
  }
  const failed = (error: unknown) => world.log('warn', { error: String(error) }, 'a subscription was not noted');
  if (subscribes) {
    world.sessions.note(session, { subscribed: uri, member: member.name }).catch(failed);
  }
  if (message.method === 'resources/unsubscribe') world.sessions.note(session, { unsubscribed: uri }).catch(failed);
  const sent = renameTarget(exchange, route.own);
  if (route.makesTasks === true || message.method.startsWith('tasks/')) {
    const carrying = { ...sent, carriesTasks: true } as const;
    return openAtMember(world, session, member, carrying, nameTasks(answer, member.name, message, world.messageBytes));
  }
  return openAtMember(world, session, member, sent, nameContents(answer, message, route.own, world.messageBytes));
}
