// Serves clients of MCP 2026-07-28 at a virtual server. Requests are independent of each other.

import { isObject } from '#std/json.ts';
import type { Answer, Exchange, Flow } from '../backends/backend.ts';
import { createLaterFlow, NO_FLOW } from '../backends/bridge/context.ts';
import { objectOf } from '../backends/bridge/messages.ts';
import { META_CAPABILITIES, SESSION_METHODS } from '../backends/bridge/protocol.ts';
import { createReply } from '../backends/bridge/reply.ts';
import { ERRORS, errorBody } from '../wire/errors.ts';
import type { RequestMessage } from '../wire/message.ts';
import { nameContents } from './calls/name-contents.ts';
import { nameTasks } from './calls/name-tasks.ts';
import { openAtMember, renameTarget } from './calls/open-call.ts';
import { routeRequest } from './calls/route.ts';
import type { Offer } from './catalogue/assemble.ts';
import { listNameOf } from './catalogue/list-names.ts';
import { answerFromOffer, discoverMessage, listMessage } from './lists-answer.ts';
import { type OptimizedCall, passOptimizer } from './optimizer/calls.ts';
import { openSubscription } from './streams/subscription.ts';
import type { World } from './world.ts';

export function openStatelessExchange(world: World, exchange: Exchange, answer: Answer): Flow {
  const { method, body, message } = exchange;
  const reply = createReply(answer);
  if (method !== 'POST' || body === undefined || message === undefined || message.kind !== 'request') {
    // MCP 2026-07-28, Streamable HTTP: GET and DELETE are refused, and notifications of clients have no effect.
    reply.end(method !== 'POST' ? 405 : message?.kind === 'notification' ? 202 : 400);
    return NO_FLOW;
  }
  const refusal = refuseRequest(body, message);
  if (refusal !== undefined) {
    reply.finish(refusal.bytes, refusal.status);
    return NO_FLOW;
  }
  if (message.method === 'server/discover' || listNameOf(message.method) !== undefined) {
    return answerFromOffer(world.catalogue.offer(exchange), answer, (offer) => ownMessage(world, offer, body, message));
  }
  const routes = world.catalogue.routes(exchange);
  if (!(routes instanceof Promise)) return forwardStateless(world, routes, exchange, body, message, answer);
  const flow = createLaterFlow();
  routes.then((offer) => {
    if (!flow.aborted()) flow.begin(forwardStateless(world, offer, exchange, body, message, answer));
  });
  return flow;
}

function refuseRequest(body: Buffer, request: RequestMessage) {
  const { id, method, meta } = request;
  if (SESSION_METHODS.has(method)) {
    return { status: 404, bytes: errorBody(id, ERRORS.methodNotFound, `Method not found: ${method}`) };
  }
  if (isObject(objectOf(body, meta?.span)[META_CAPABILITIES])) return undefined;
  return {
    status: 400,
    bytes: errorBody(id, ERRORS.invalidParams, `Invalid params: _meta lacks ${META_CAPABILITIES}`),
  };
}

function ownMessage(world: World, offer: Offer, body: Buffer, request: RequestMessage): Buffer | readonly Buffer[] {
  const shared = world.members.all().every(({ perCaller }) => !perCaller);
  const list = listNameOf(request.method);
  if (list === undefined) return discoverMessage(request, offer.capabilities, world, shared);
  const capabilities = () => objectOf(body, request.meta?.clientCapabilities);
  return listMessage(list, body, request, offer, { era: 'stateless', server: world, shared, capabilities });
}

function forwardStateless(
  world: World,
  offer: Offer,
  exchange: Exchange,
  body: Buffer,
  request: RequestMessage,
  answer: Answer,
): Flow {
  if (request.method === 'subscriptions/listen') return openSubscription(world, offer, exchange, body, request, answer);
  const passed = passOptimizer(world, offer, { exchange, body, request }, answer);
  if ('flow' in passed) return passed.flow;
  // The client called `call_tool`, so it must get a result, even if the tool that `call_tool` calls could create a
  // task.
  const isOwn = passed.call.request !== request;
  const mayMakeTask = !isOwn && (request.method === 'tools/call' || request.method.startsWith('tasks/'));
  return forwardCall(world, offer, passed.call, answer, mayMakeTask);
}

function forwardCall(
  world: World,
  offer: Offer,
  { exchange, body, request }: OptimizedCall,
  answer: Answer,
  mayMakeTask: boolean,
): Flow {
  const route = routeRequest(offer, body, request, 'stateless');
  if (route.error !== undefined) {
    // An unknown method gets status 404 (MCP 2026-07-28, Streamable HTTP, Protocol Version Header).
    createReply(answer).finish(route.error, request.target === undefined ? 404 : 200);
    return NO_FLOW;
  }
  const member = world.members.find(route.member);
  if (member !== undefined) {
    const sent = renameTarget(exchange, route.own);
    if (!mayMakeTask) {
      const named = nameContents(answer, request, route.own, world.messageBytes);
      return openAtMember(world, undefined, member, sent, named);
    }
    const carrying = { ...sent, carriesTasks: true } as const;
    return openAtMember(
      world,
      undefined,
      member,
      carrying,
      nameTasks(answer, member.name, request, world.messageBytes),
    );
  }
  createReply(answer).finish(errorBody(request.id, ERRORS.internalError, 'The backend was just removed'));
  return NO_FLOW;
}
