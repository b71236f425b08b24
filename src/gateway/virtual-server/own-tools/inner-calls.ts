// Calls members' tools for the virtual server's own tools, on behalf of a caller. Policies check each call. A caller
// with a session uses its session at the member.

import { type JsonObject, shownText } from '#std/json.ts';
import type { BackendFault, Exchange, Flow } from '../../backends/backend.ts';
import { ask, postExchange } from '../../backends/bridge/ask.ts';
import { callMessage, objectOf } from '../../backends/bridge/messages.ts';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from '../../backends/bridge/protocol.ts';
import { readAnswer } from '../../backends/bridge/reading.ts';
import { ERRORS, errorBody } from '../../wire/errors.ts';
import { encodeHeaderValue, HEADERS } from '../../wire/headers.ts';
import type { Message, RequestMessage } from '../../wire/message.ts';
import { LATEST_STATELESS_REVISION } from '../../wire/revisions.ts';
import { scanMessage } from '../../wire/scan.ts';
import { observe } from '../calls/open-call.ts';
import { nameBackend } from '../calls/relay-answer.ts';
import type { AnswerHead } from '../health/outcomes.ts';
import { type Member, memberCause } from '../members/member.ts';
import { headersIn, joinMember } from '../sessions/open-member.ts';
import { askingOf, ownRequestId, type World } from '../world.ts';
import { CLIENT_SESSION, type InnerCall, type InnerCalls, type InnerResult, type ToolRoute } from './ports.ts';

export function createInnerCalls(world: World): InnerCalls {
  return {
    reachable: (cause) => world.catalogue.routes(cause),
    async call(inner) {
      try {
        return await callTool(world, inner);
      } catch (error) {
        return { kind: 'failed', message: error instanceof Error ? error.message : String(error), retryable: true };
      }
    },
  };
}

async function callTool(world: World, inner: InnerCall): Promise<InnerResult> {
  const { cause, tool: name } = inner;
  const offer = await world.catalogue.routes(cause);
  const route = offer.find(name);
  const member = route === undefined ? undefined : world.members.find(route.member);
  if (route === undefined || member === undefined) return { kind: 'unknown' };
  const denial = denialOf(world, inner, route);
  if (denial !== undefined) return { kind: 'denied', message: denial };
  if (inner.signal?.aborted === true) return { kind: 'aborted' };
  const waitSeconds = await world.limitInner(cause, route.name);
  if (waitSeconds !== undefined) return { kind: 'limited', waitSeconds };
  const release = member.health.admit();
  if (release === undefined) {
    return {
      kind: 'failed',
      message: `the backend ${member.name} keeps failing and gets no requests for a while`,
      retryable: true,
    };
  }
  try {
    const prepared = await prepare(world, inner, member, route);
    return 'fault' in prepared ? failedCall(member, prepared.fault) : await sendInner(world, inner, member, prepared);
  } finally {
    release();
  }
}

/** Returns why the policies refuse the call. Policies decide on the name that clients use. */
function denialOf({ denial }: World, { cause, arguments: args }: InnerCall, { name }: ToolRoute): string | undefined {
  const body = callMessage('tools/call', '"skep-inner"', JSON.stringify({ name, arguments: args }));
  const scanned = scanMessage(body);
  const request = scanned.ok && scanned.message.kind === 'request' ? scanned.message : undefined;
  return request === undefined ? 'the call cannot be read' : denial(cause, body, request);
}

function failedCall({ name }: Member, fault: BackendFault): InnerResult {
  const retryable = !['unauthorized', 'forbidden', 'not-supported'].includes(fault.reason);
  return { kind: 'failed', message: nameBackend(name, fault).message, retryable };
}

interface Prepared {
  readonly exchange: Exchange;
  /** Sends the member a message about the request: a cancellation, or the answer to a request of the member. */
  readonly tell: (body: Buffer) => void;
}

async function prepare(
  world: World,
  { cause, arguments: args, progress }: InnerCall,
  member: Member,
  { own }: ToolRoute,
): Promise<Prepared | { readonly fault: BackendFault }> {
  const given = { name: own, arguments: args };
  const id = ownRequestId(world);
  const token = progress === undefined ? {} : { progressToken: JSON.parse(id) };
  const sessionId = cause.headers[CLIENT_SESSION];
  const session = sessionId === undefined ? undefined : await world.sessions.find(sessionId);
  const from = memberCause(member, withoutSession(cause));
  if (session === undefined) {
    const params = { ...given, _meta: { ...META, ...token } };
    const headers = {
      [HEADERS.protocolVersion]: LATEST_STATELESS_REVISION,
      [HEADERS.method]: 'tools/call',
      [HEADERS.name]: encodeHeaderValue(own),
    };
    const body = callMessage('tools/call', id, JSON.stringify(params));
    return { exchange: postExchange(from, 'stateless', body, headers), tell: () => undefined };
  }
  const joined = await joinMember(world, session, member, withoutSession(cause));
  if (!joined.ok) return { fault: joined.fault };
  const { at } = joined;
  const body = callMessage('tools/call', id, JSON.stringify({ ...given, _meta: token }));
  return {
    exchange: postExchange(from, 'session', body, headersIn(at), at.id),
    tell: (message) => void ask(askingOf(world, member), postExchange(from, 'session', message, headersIn(at), at.id)),
  };
}

/** Declares no client capabilities, because only own tools may send requests to the client. */
const META: JsonObject = {
  [META_VERSION]: LATEST_STATELESS_REVISION,
  [META_CAPABILITIES]: {},
  [META_CLIENT]: { name: 'skep', version: '1' },
};

function withoutSession(cause: Exchange): Exchange {
  const { [CLIENT_SESSION]: _session, ...headers } = cause.headers;
  return { ...cause, headers };
}

function sendInner(world: World, inner: InnerCall, member: Member, { exchange, tell }: Prepared): Promise<InnerResult> {
  const { promise, resolve } = Promise.withResolvers<InnerResult>();
  let flow: Flow | undefined;
  let head: AnswerHead | undefined;
  let stopTimer: () => void = () => undefined;

  function settle(result: InnerResult, fault?: BackendFault): void {
    stopTimer();
    inner.signal?.removeEventListener('abort', abort);
    if (result.kind !== 'aborted') observe(member, 'call', fault, head);
    resolve(result);
  }

  function giveUp(result: InnerResult, fault?: BackendFault): void {
    const id = exchange.message?.kind === 'request' ? exchange.message.id.json : undefined;
    if (id !== undefined)
      tell(
        callMessage('notifications/cancelled', undefined, `{"requestId":${id},"reason":"the caller no longer waits"}`),
      );
    settle(result, fault);
    flow?.abort();
  }

  const abort = () => giveUp({ kind: 'aborted' });

  /** Restarts the time limit. Called at each message. */
  function wait(): void {
    stopTimer();
    const fault: BackendFault = { reason: 'timeout', message: 'the MCP server did not answer in time' };
    stopTimer = world.clock.after(member.timeoutMs, () => giveUp(failedCall(member, fault), fault));
  }

  inner.signal?.addEventListener('abort', abort, { once: true });
  wait();
  const answer = readAnswer(
    {
      head(status, headers) {
        head = { status, headers };
      },
      message(bytes, message) {
        wait();
        const result = takeMessage(inner, bytes, message, tell);
        if (result !== undefined) settle(result);
      },
      part: () => true,
      end: () =>
        settle({
          kind: 'failed',
          message: `the backend ${member.name} ended its answer without a response: the call may have been carried out`,
          retryable: true,
        }),
      fail: (fault) => settle(failedCall(member, fault), fault),
    },
    world.messageBytes,
  );
  flow = member.backend.open(exchange, answer);
  return promise;
}

/** Handles a message of the answer. Returns undefined for a message that is not the response. */
function takeMessage(
  { progress }: InnerCall,
  bytes: Buffer,
  message: Message,
  tell: (body: Buffer) => void,
): InnerResult | undefined {
  switch (message.kind) {
    case 'notification':
      if (message.method === 'notifications/progress') progress?.(objectOf(bytes, message.params));
      return undefined;
    case 'request':
      tell(refuseQuestion(message));
      return undefined;
    case 'response': {
      if (message.result !== undefined) return resultOf(objectOf(bytes, message.result));
      const { code, message: words } = objectOf(bytes, message.error);
      return { kind: 'error', code: typeof code === 'number' ? code : ERRORS.internalError, message: shownText(words) };
    }
  }
}

function refuseQuestion({ id }: RequestMessage): Buffer {
  return errorBody(id, ERRORS.methodNotFound, 'No person can be asked during this call');
}

/**
 * Reads a result. A server of MCP 2026-07-28 may send a result that requests input, although no such capability was
 * declared.
 */
function resultOf(result: JsonObject): InnerResult {
  if (result.resultType === undefined || result.resultType === 'complete')
    return { kind: 'result', result: { ...result } };
  return {
    kind: 'failed',
    message: `the tool answers with ${shownText(result.resultType)}, which a step cannot`,
    retryable: false,
  };
}
