// Delivers a client's responses, notifications and log level to members.

import type { Answer, BackendFault, Exchange, Flow } from '../backends/backend.ts';
import { ask, postExchange } from '../backends/bridge/ask.ts';
import { NO_FLOW } from '../backends/bridge/context.ts';
import { callMessage, resultMessage } from '../backends/bridge/messages.ts';
import { createReply } from '../backends/bridge/reply.ts';
import { callerOwner } from '../backends/caller-key.ts';
import { ERRORS, errorBody } from '../wire/errors.ts';
import { patchId, patchMessage } from '../wire/ids.ts';
import type { MessageId, NotificationMessage, ResponseMessage } from '../wire/message.ts';
import { readMemberId } from './calls/member-ids.ts';
import { type Member, memberCause } from './members/member.ts';
import { headersIn } from './sessions/open-member.ts';
import type { MemberSession, Session } from './sessions/session.ts';
import { askingOf, ownRequestId, type World } from './world.ts';

interface Joined {
  readonly member: Member;
  readonly at: MemberSession;
}

function joinedMember({ members }: World, session: Session, name: string): Joined | undefined {
  const member = members.find(name);
  const at = session.members.get(name);
  return member === undefined || at === undefined ? undefined : { member, at };
}

function joinedMembers(world: World, session: Session): readonly Joined[] {
  return [...session.members.keys()].flatMap((name) => joinedMember(world, session, name) ?? []);
}

/** Sends a response to the member that sent the request. The client gets the member's HTTP status. */
export function sendResponse(
  world: World,
  session: Session,
  exchange: Exchange,
  body: Buffer,
  response: ResponseMessage,
  answer: Answer,
): Flow {
  const given = response.id?.json ?? '';
  const at = readMemberId(given);
  const joined = at === undefined ? undefined : joinedMember(world, session, at.member);
  const call = session.asked.get(given);
  session.asked.delete(given);
  if (at === undefined || joined === undefined) {
    const text = 'Bad Request: no request with this id waits for a response here';
    createReply(answer).finish(errorBody(undefined, ERRORS.badRequest, text), 400);
    return NO_FLOW;
  }
  call?.answered();
  void postToMember(world, joined, exchange, patchId(body, response, at.id)).then((asked) => {
    if (!asked.ok) answer.fail(asked.fault);
    else createReply(answer).end(asked.status);
  });
  return NO_FLOW;
}

const BUSY: BackendFault = {
  reason: 'busy',
  message: 'earlier notifications have not reached their MCP servers yet',
  retryAfterSeconds: 1,
};

/**
 * Sends a notification to members. The client gets its answer at once, since a silent member must not delay other
 * members.
 */
export function sendNotification(
  world: World,
  session: Session,
  exchange: Exchange,
  body: Buffer,
  message: NotificationMessage,
  answer: Answer,
): Flow {
  const release = world.notifications.take(callerOwner(exchange.caller), body.length);
  if (release === undefined) {
    answer.fail(BUSY);
    return NO_FLOW;
  }
  const posts = deliveries(world, session, body, message).map(({ to, bytes }) =>
    postToMember(world, to, exchange, bytes),
  );
  void Promise.all(posts).finally(release);
  createReply(answer).end(202);
  return NO_FLOW;
}

interface Delivery {
  readonly to: Joined;
  readonly bytes: Buffer;
}

function deliveries(world: World, session: Session, body: Buffer, message: NotificationMessage): readonly Delivery[] {
  const { method, refersTo } = message;
  if (method === 'notifications/initialized') return [];
  if (method === 'notifications/progress') {
    const at = refersTo === undefined ? undefined : readMemberId(refersTo.json);
    const to = at === undefined ? undefined : joinedMember(world, session, at.member);
    return at === undefined || to === undefined
      ? []
      : [{ to, bytes: patchMessage(body, message, { refersTo: at.id }) }];
  }
  const call = method === 'notifications/cancelled' ? session.calls.get(refersTo?.json ?? '') : undefined;
  // All members get the client's own request ids. A member ignores the cancellation of an id that it does not know.
  const to = call === undefined ? joinedMembers(world, session) : [joinedMember(world, session, call.member)];
  return to.flatMap((each) => (each === undefined ? [] : [{ to: each, bytes: body }]));
}

export function setLogLevel(
  world: World,
  session: Session,
  exchange: Exchange,
  id: MessageId,
  level: string,
  answer: Answer,
): Flow {
  const reported = joinedMembers(world, session).map((joined) =>
    postToMember(
      world,
      joined,
      exchange,
      callMessage('logging/setLevel', ownRequestId(world), JSON.stringify({ level })),
    ),
  );
  Promise.all([...reported, world.sessions.note(session, { logLevel: level })]).then(
    () => createReply(answer).finish(resultMessage(id.json, '{}')),
    (error: unknown) =>
      answer.fail({ reason: 'unreachable', message: 'the store of sessions cannot be reached', detail: String(error) }),
  );
  return NO_FLOW;
}

function postToMember(world: World, { member, at }: Joined, exchange: Exchange, body: Buffer) {
  return ask(
    askingOf(world, member),
    postExchange(memberCause(member, exchange), 'session', body, headersIn(at), at.id),
  );
}
