// Serves the stream on which a client with a session listens: messages of its members, and notifications of changed
// lists.

import type { Answer, Exchange, Flow } from '../../backends/backend.ts';
import { NO_FLOW } from '../../backends/bridge/context.ts';
import { callMessage } from '../../backends/bridge/messages.ts';
import { coversUri } from '../../backends/bridge/protocol.ts';
import { createReply, type Reply } from '../../backends/bridge/reply.ts';
import { ERRORS, errorBody } from '../../wire/errors.ts';
import { patchTarget } from '../../wire/ids.ts';
import { scanMessage } from '../../wire/scan.ts';
import { formatEvent, type SseEvent } from '../../wire/sse.ts';
import { formatListenerEvent, type ReadEvent, readEventId } from '../calls/member-ids.ts';
import { showMessage } from '../calls/member-messages.ts';
import { openAtMember } from '../calls/open-call.ts';
import { isAppUri, memberAppUri, readMemberAppUri } from '../catalogue/apps.ts';
import { LISTS } from '../catalogue/list-names.ts';
import type { ListeningStream, Session } from '../sessions/session.ts';
import type { World } from '../world.ts';
import { openMemberStream } from './member-stream.ts';

export function openListener(world: World, session: Session, exchange: Exchange, answer: Answer): Flow {
  const last = exchange.headers['last-event-id'];
  const from = last === undefined ? undefined : readEventId(last);
  if (last !== undefined && from === undefined) {
    createReply(answer).finish(
      errorBody(undefined, ERRORS.badRequest, 'The stream of Last-Event-ID cannot be resumed'),
      400,
    );
    return NO_FLOW;
  }
  return from?.kind === 'call'
    ? resumeCall(world, session, exchange, answer, from)
    : listen(world, session, exchange, answer, from);
}

/** Resumes the answer to a call: the member repeats its events after the client's Last-Event-ID. */
function resumeCall(
  world: World,
  session: Session,
  exchange: Exchange,
  answer: Answer,
  { at }: ReadEvent & { kind: 'call' },
): Flow {
  const member = world.members.find(at.member);
  if (member === undefined) {
    createReply(answer).finish(
      errorBody(undefined, ERRORS.badRequest, 'The stream of Last-Event-ID cannot be resumed'),
      400,
    );
    return NO_FLOW;
  }
  const headers = { ...exchange.headers, 'last-event-id': at.id };
  return openAtMember(world, session, member, { ...exchange, headers }, answer);
}

interface Listening {
  readonly world: World;
  readonly session: Session;
  readonly exchange: Exchange;
  readonly reply: Reply;
  readonly answer: Answer;
  readonly flows: Map<string, Flow>;
  /** Id of the last event of each member. */
  readonly ids: Map<string, string>;
}

function listen(
  world: World,
  session: Session,
  exchange: Exchange,
  answer: Answer,
  from: (ReadEvent & { kind: 'listener' }) | undefined,
): Flow {
  const reply = createReply(answer);
  const listening: Listening = { world, session, exchange, reply, answer, flows: new Map(), ids: new Map(from?.ids) };
  const stopWatching = world.catalogue.watch(exchange, (lists) => {
    const methods = new Set(lists.map((list) => LISTS[list].changed));
    for (const method of methods) reply.event(callMessage(method, undefined));
  });
  const stream: ListeningStream = {
    attach: (member) => attach(listening, member),
    end: () => close(() => reply.end(200)),
  };

  function close(finish: () => void): void {
    if (session.stream === stream) session.stream = undefined;
    stopWatching();
    for (const flow of listening.flows.values()) flow.abort();
    listening.flows.clear();
    finish();
  }

  // A client that opens another stream has lost the previous stream.
  session.stream?.end();
  session.stream = stream;
  reply.stream();
  for (const member of session.members.keys()) attach(listening, member);
  return {
    abort: () => close(() => reply.drop()),
    resume() {
      for (const flow of listening.flows.values()) flow.resume();
    },
  };
}

function attach(listening: Listening, name: string): void {
  const { world, session, exchange, flows, ids } = listening;
  const member = world.members.find(name);
  const at = session.members.get(name);
  if (member === undefined || at === undefined) return;
  flows.get(name)?.abort();
  const flow = openMemberStream({
    ...{ world, member, at, exchange, after: ids.get(name) },
    event: (event) => pass(listening, name, event),
    over: () => flows.delete(name),
  });
  flows.set(name, flow);
}

/** Sends an event to the client. Returns false if the client reads too slowly. */
function pass({ world, session, reply, answer, ids }: Listening, member: string, event: SseEvent): boolean {
  if (reply.closed()) return true;
  if (event.id !== undefined) ids.set(member, event.id);
  const shown = showMessage(member, event.data);
  if (shown.kind === 'list-changed') {
    world.catalogue.doubt(member);
    return true;
  }
  if (shown.kind === 'unreadable') return true;
  const id = event.id === undefined ? undefined : formatListenerEvent(ids);
  const data = nameUpdated(session, member, shown.bytes);
  return answer.data(formatEvent({ data, id, type: event.type, retry: event.retry }));
}

const UPDATED = 'notifications/resources/updated';

/** Replaces the member's URI in an update notification if the client has subscribed to a URI of `memberAppUri`. */
function nameUpdated({ subscriptions }: Session, member: string, bytes: Buffer): Buffer {
  if (![...subscriptions.keys()].some((uri) => readMemberAppUri(uri)?.member === member)) return bytes;
  const scanned = scanMessage(bytes);
  if (!scanned.ok || scanned.message.kind !== 'notification' || scanned.message.method !== UPDATED) return bytes;
  const own = scanned.message.target?.value ?? '';
  const uri = isAppUri(own) ? memberAppUri({ member, own }) : own;
  return subscriptions.has(own) || !coversUri(subscriptions.keys(), uri)
    ? bytes
    : patchTarget(bytes, scanned.message, uri);
}
