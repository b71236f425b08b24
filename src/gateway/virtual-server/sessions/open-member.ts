// Opens a client's session at a member when a request first needs it, with the client's own name and capabilities.

import { isObject, type JsonObject } from '#std/json.ts';
import type { BackendFault, Exchange } from '../../backends/backend.ts';
import { ask, postExchange } from '../../backends/bridge/ask.ts';
import { callMessage, objectOf } from '../../backends/bridge/messages.ts';
import { HEADERS } from '../../wire/headers.ts';
import { readMemberAppUri } from '../catalogue/apps.ts';
import type { AnswerHead } from '../health/outcomes.ts';
import { carriedCapabilities } from '../members/carried.ts';
import { type Member, memberCause } from '../members/member.ts';
import { askingOf, ownRequestId, type World } from '../world.ts';
import type { Joined, MemberSession, Session } from './session.ts';

/**
 * Returns the session at the member. Returns a promise only if the session must be opened. Rejects if the store cannot
 * be reached.
 */
export function joinMember(
  world: World,
  session: Session,
  member: Member,
  exchange: Exchange,
): Joined | Promise<Joined> {
  const known = session.members.get(member.name);
  if (known !== undefined) return { ok: true, at: known };
  const opening = session.opening.get(member.name);
  if (opening !== undefined) return opening;
  const started = openAndNote(world, session, member, exchange).finally(() => session.opening.delete(member.name));
  session.opening.set(member.name, started);
  return started;
}

async function openAndNote(world: World, session: Session, member: Member, exchange: Exchange): Promise<Joined> {
  const opened = await openSession(world, session, member, exchange);
  if (!opened.ok) return opened;
  const at = await world.sessions.joinMember(session, member.name, opened.at);
  if (at.id !== opened.at.id) void endMemberSession(world, member, opened.at, exchange);
  else await restore(world, session, member, exchange, opened);
  session.stream?.attach(member.name);
  return { ok: true, at };
}

interface MemberHandshake {
  readonly ok: true;
  readonly at: MemberSession;
  readonly capabilities: JsonObject;
}

type Opening = MemberHandshake | { readonly ok: false; readonly fault: BackendFault; readonly head?: AnswerHead };

async function openSession(world: World, { client }: Session, member: Member, exchange: Exchange): Promise<Opening> {
  const cause = memberCause(member, exchange);
  const asking = askingOf(world, member);
  const { revision, capabilities, clientInfo = { name: 'mcp-client', version: 'unknown' } } = client;
  const carried = carriedCapabilities(capabilities);
  const params = JSON.stringify({ protocolVersion: revision, capabilities: carried, clientInfo });
  const asked = await ask(
    asking,
    postExchange(cause, 'session', callMessage('initialize', '"skep-initialize"', params), {}),
  );
  if (!asked.ok) return asked;
  const { bytes, message } = asked.response ?? {};
  const result = bytes === undefined ? {} : objectOf(bytes, message?.result);
  if (typeof result.protocolVersion !== 'string') {
    const unauthorized = asked.status === 401 || asked.status === 403;
    const fault: BackendFault = unauthorized
      ? { reason: 'unauthorized', message: `the backend ${member.name} refuses the credentials` }
      : { reason: 'answer-invalid', message: `the backend ${member.name} does not begin a session` };
    return { ok: false, head: asked, fault: { ...fault, detail: `initialize: status ${asked.status}` } };
  }
  const id = asked.headers[HEADERS.sessionId];
  const at: MemberSession = { id: typeof id === 'string' ? id : undefined, revision: result.protocolVersion };
  const begun = callMessage('notifications/initialized', undefined);
  await ask(asking, postExchange(cause, 'session', begun, headersIn(at), at.id));
  return { ok: true, at, capabilities: isObject(result.capabilities) ? { ...result.capabilities } : {} };
}

/** Applies the client's log level and subscriptions to a new session at a member. */
async function restore(
  world: World,
  session: Session,
  member: Member,
  exchange: Exchange,
  { at, capabilities }: MemberHandshake,
): Promise<void> {
  const cause = memberCause(member, exchange);
  const send = (method: string, params: object) => {
    const body = callMessage(method, ownRequestId(world), JSON.stringify(params));
    return ask(askingOf(world, member), postExchange(cause, 'session', body, headersIn(at), at.id));
  };
  const { logLevel, subscriptions } = session;
  if (logLevel !== undefined && isObject(capabilities.logging)) await send('logging/setLevel', { level: logLevel });
  const uris = [...subscriptions].filter(([, owner]) => owner === member.name);
  await Promise.all(uris.map(([uri]) => send('resources/subscribe', { uri: readMemberAppUri(uri)?.own ?? uri })));
}

export function headersIn({ revision }: MemberSession): Record<string, string> {
  return { [HEADERS.protocolVersion]: revision };
}

async function endMemberSession(world: World, member: Member, at: MemberSession, exchange: Exchange): Promise<void> {
  if (at.id === undefined) return;
  const { path, caller, authorize, headers } = memberCause(member, exchange);
  const { 'content-type': _type, 'content-length': _length, ...kept } = headers;
  const leaving = { ...kept, ...headersIn(at) };
  await ask(askingOf(world, member), {
    method: 'DELETE',
    era: 'session',
    path,
    headers: leaving,
    session: at.id,
    caller,
    authorize,
  });
}

/** Ends the client's sessions at all members, without waiting for their answers. */
export function endMemberSessions(world: World, { members, last }: Session): void {
  if (last === undefined) return;
  for (const [name, at] of members) {
    const member = world.members.find(name);
    if (member !== undefined) void endMemberSession(world, member, at, last);
  }
}
