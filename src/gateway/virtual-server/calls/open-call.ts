// Sends one request of a client to a member. A client with a session gets a session at the member.

import { answerThen } from '../../backends/answer-then.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../../backends/backend.ts';
import { ask, postExchange } from '../../backends/bridge/ask.ts';
import { createLaterFlow, NO_FLOW } from '../../backends/bridge/context.ts';
import { callMessage } from '../../backends/bridge/messages.ts';
import { encodeHeaderValue, HEADERS } from '../../wire/headers.ts';
import { patchTarget } from '../../wire/ids.ts';
import type { Message } from '../../wire/message.ts';
import { scanMessage } from '../../wire/scan.ts';
import { type AnswerHead, answeredAs, EFFECTS, type Operation } from '../health/outcomes.ts';
import { exchangeFor, type Member, memberCause } from '../members/member.ts';
import { OWN_MEMBER } from '../own-tools/own-member.ts';
import { CLIENT_SESSION } from '../own-tools/ports.ts';
import { headersIn, joinMember } from '../sessions/open-member.ts';
import type { MemberSession, Session } from '../sessions/session.ts';
import { askingOf, type World } from '../world.ts';
import { nameBackend, type RelayedAnswer, relayAnswer } from './relay-answer.ts';

/** Returns the exchange for the member, with the name or URI that the member uses for the target. */
export function renameTarget(exchange: Exchange, own: string | undefined): Exchange {
  const { body, message, headers } = exchange;
  if (own === undefined || body === undefined || message?.kind !== 'request' || message.target?.value === own)
    return exchange;
  const renamed = patchTarget(body, message, own);
  const scanned = scanMessage(renamed);
  const named = headers[HEADERS.name] === undefined ? headers : { ...headers, [HEADERS.name]: encodeHeaderValue(own) };
  return { ...exchange, body: renamed, message: scanned.ok ? scanned.message : message, headers: named };
}

/** Sends a request to a member. Fails at once while the member's circuit is open. */
export function openAtMember(
  world: World,
  session: Session | undefined,
  member: Member,
  exchange: Exchange,
  answer: Answer,
): Flow {
  const release = member.health.admit();
  if (release === undefined) {
    const message = `the backend ${member.name} keeps failing and gets no requests for a while`;
    answer.fail({ reason: 'unreachable', message, retryAfterSeconds: 5 });
    return NO_FLOW;
  }
  // The end of every call frees the circuit's test slot, even if the member sent no answer.
  const released = answerThen(answer, release);
  const flow =
    session === undefined
      ? openStateless(world, member, exchange, released)
      : openInSession(world, session, member, exchange, released, true);
  return {
    abort() {
      release();
      flow.abort();
    },
    resume: () => flow.resume(),
  };
}

function openStateless(world: World, member: Member, exchange: Exchange, answer: Answer): Flow {
  let flow: Flow | undefined;
  const relayed = relay(world, member, exchange, answer, {
    lost: () => false,
    asked: () => undefined,
    silent: () => flow?.abort(),
    ended: (fault, head) => observe(member, 'call', fault, head),
  });
  flow = member.backend.open(exchangeFor(member, exchange, {}), relayed);
  return flow;
}

function openInSession(
  world: World,
  session: Session,
  member: Member,
  exchange: Exchange,
  answer: Answer,
  mayRetry: boolean,
): Flow {
  const joined = joinMember(world, session, member, exchange);
  if (!(joined instanceof Promise) && joined.ok) {
    return send(world, { session, member, exchange, answer, at: joined.at, mayRetry });
  }
  const flow = createLaterFlow();
  Promise.resolve(joined).then(
    (settled) => {
      if (flow.aborted()) return;
      if (!settled.ok) {
        observe(member, 'initialize', settled.fault, settled.head);
        answer.fail(nameBackend(member.name, settled.fault));
        return;
      }
      flow.begin(send(world, { session, member, exchange, answer, at: settled.at, mayRetry }));
    },
    (error: unknown) => answer.fail(storeFault(error)),
  );
  return flow;
}

export function storeFault(error: unknown): BackendFault {
  const detail = error instanceof Error ? error.message : String(error);
  return { reason: 'unreachable', message: 'the store of sessions cannot be reached', retryAfterSeconds: 2, detail };
}

interface Sending {
  readonly session: Session;
  readonly member: Member;
  readonly exchange: Exchange;
  readonly answer: Answer;
  readonly at: MemberSession;
  /** False if the request was already repeated once. */
  readonly mayRetry: boolean;
}

function send(world: World, sending: Sending): Flow {
  const { session, member, exchange, answer, at, mayRetry } = sending;
  const id = requestId(exchange.message);
  const outer = createLaterFlow();
  const asked: string[] = [];
  let sent: Flow | undefined;

  function settle(): void {
    if (id !== undefined) session.calls.delete(id);
    for (const each of asked) session.asked.delete(each);
  }

  const relayed: RelayedAnswer = relay(world, member, exchange, answer, {
    lost() {
      // A member that does not know the session has not executed the request (MCP 2025-11-25, Session Management).
      if (!mayRetry || at.id === undefined) return false;
      settle();
      sent?.abort();
      if (session.members.get(member.name) === at) {
        session.members.delete(member.name);
        void world.sessions.leaveMember(session, member.name).catch(() => undefined);
      }
      queueMicrotask(() => {
        if (!outer.aborted()) outer.begin(openInSession(world, session, member, exchange, answer, false));
      });
      return true;
    },
    asked(each) {
      asked.push(each);
      session.asked.set(each, call);
    },
    silent() {
      sent?.abort();
      if (id !== undefined) void cancelAtMember(world, member, at, exchange, id);
    },
    ended(fault, head) {
      settle();
      observe(member, 'call', fault, head);
    },
  });
  const call = { member: member.name, answered: relayed.heard };
  if (id !== undefined) session.calls.set(id, call);
  const own: Record<string, string> = member.name === OWN_MEMBER ? { [CLIENT_SESSION]: session.id } : {};
  const headers = { ...exchange.headers, ...headersIn(at), ...own };
  sent = member.backend.open(exchangeFor(member, exchange, { session: at.id, headers }), relayed);
  outer.begin(sent);
  return {
    abort() {
      settle();
      outer.abort();
    },
    resume: outer.resume,
  };
}

function requestId(message: Message | undefined): string | undefined {
  return message?.kind === 'request' ? message.id.json : undefined;
}

/** Sends the member a cancellation after a timeout (MCP 2025-11-25, basic/lifecycle, Timeouts). */
async function cancelAtMember(
  world: World,
  member: Member,
  at: MemberSession,
  exchange: Exchange,
  id: string,
): Promise<void> {
  const params = `{"requestId":${id},"reason":"time is over"}`;
  const body = callMessage('notifications/cancelled', undefined, params);
  await ask(
    askingOf(world, member),
    postExchange(memberCause(member, exchange), 'session', body, headersIn(at), at.id),
  );
}

type Own = Pick<Parameters<typeof relayAnswer>[0], 'lost' | 'asked' | 'silent' | 'ended'>;

function relay(
  world: World,
  { name, timeoutMs }: Member,
  { message }: Exchange,
  answer: Answer,
  own: Own,
): RelayedAnswer {
  return relayAnswer({
    ...own,
    member: name,
    id: message?.kind === 'request' ? message.id : undefined,
    answer,
    timeoutMs,
    messageBytes: world.messageBytes,
    clock: world.clock,
    listChanged: () => world.catalogue.doubt(name),
    unreadable: (reason) => world.log('debug', { backend: name, reason }, 'a message of a backend cannot be read'),
  });
}

/** Counts the result of a request for the health of the member, by the table in health/outcomes.ts. */
export function observe(
  { name, health }: Member,
  operation: Operation,
  fault: BackendFault | undefined,
  head?: AnswerHead,
): void {
  const effect = EFFECTS[operation][answeredAs(fault, head)];
  if (effect === 'nothing') return;
  const message = fault?.detail ?? fault?.message ?? `the backend ${name} answered with status ${head?.status}`;
  health.observe({ ok: effect === 'success', message });
}
