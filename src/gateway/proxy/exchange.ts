// Converts a client's HTTP request to an exchange with the backend: finds MCP revision and session, applies the rules,
// and sets headers and credentials.

import type { Answer, Era, Exchange } from '../backends/backend.ts';
import { authorizeAs } from '../credentials/authorize.ts';
import type { Credential } from '../credentials/credential.ts';
import { keptSizeFault } from '../gate/kept-sizes.ts';
import type { RateLimits } from '../gate/rate-limits.ts';
import { checkStandardHeaders, HEADERS, singleHeader } from '../wire/headers.ts';
import type { Message } from '../wire/message.ts';
import { eraOf } from '../wire/revisions.ts';
import { scanMessage } from '../wire/scan.ts';
import type { SessionSeal } from '../wire/seal.ts';
import type { AdmittedMessage } from './admit.ts';
import type { Caller } from './caller.ts';
import { type ClientInfo, clientInfoOf, infoOf } from './client-info.ts';
import type { Known } from './entry.ts';
import {
  ACCEPT_REFUSED,
  keptTooLarge,
  protocolRefusal,
  type Refusal,
  SESSION_REQUIRED,
  sessionUnknown,
  TOO_MANY_RESOURCES,
} from './faults.ts';
import { type Incoming, leavingRequest } from './incoming.ts';
import { changeOf } from './lists/change.ts';
import {
  type LiveRules,
  type LiveStream,
  openLiveStream,
  SUBSCRIBED_RESOURCES_MAX,
  subscriptionOf,
} from './lists/live-stream.ts';
import type { NeededList, Rules } from './rules.ts';

export interface ExchangeWorld {
  readonly seal: SessionSeal;
  readonly rules: Rules;
  /** Source of the current rules, which may be replaced while a stream is open. */
  readonly live: LiveRules;
  readonly credential: Credential;
  /** Limits that all replicas share. undefined if no limits apply. */
  readonly rateLimits: RateLimits | undefined;
  /** Maximum size of server messages that the proxy reads. Larger messages are refused. */
  readonly messageBytes: number;
}

export type Prepared =
  | {
      readonly exchange: Exchange;
      readonly known: Known;
      /** Name by which clients call the tool. undefined if the message is not a tool call. */
      readonly calledTool: string | undefined;
      /** Wraps the answer with the changes that the rules make. undefined if no rule changes answers. */
      readonly change: ((answer: Answer) => Answer) | undefined;
      /** Replaces `change` for streams that stay open for later events. */
      readonly live: ((answer: Answer) => LiveStream) | undefined;
      readonly refusal?: undefined;
      readonly needsList?: undefined;
    }
  | { readonly refusal: Refusal; readonly known: Known }
  /** The proxy must read a list of the server before it decides on the message. */
  | { readonly needsList: ListNeeded; readonly known: Known; readonly refusal?: undefined };

export interface ListNeeded extends NeededList {
  readonly message: Message;
  /** Key of the caller, the MCP era, and the session if one exists. */
  readonly scope: string;
}

export function prepareExchange(world: ExchangeWorld, incoming: Incoming): Prepared {
  const { caller, body } = incoming;
  const { webhooks, received } = incoming;
  const known: Known = { caller, requestBytes: body?.length ?? 0, body, webhooks, received };
  const message = body === undefined ? undefined : scanMessage(body);
  if (message?.ok === false) {
    const { code, message: words } = message.fault;
    return { known, refusal: { status: 400, code, message: words, reason: 'message-invalid', id: message.fault.id } };
  }
  return prepareMessage(world, incoming, message?.message, known);
}

function prepareMessage(
  world: ExchangeWorld,
  incoming: Incoming,
  message: Message | undefined,
  begun: Known,
): Prepared {
  const { headers, body } = incoming;
  const decided = eraOf(singleHeader(headers, HEADERS.protocolVersion), message);
  if (decided.fault !== undefined) return { known: { ...begun, message }, refusal: protocolRefusal(decided.fault) };
  const { era, revision } = decided;
  const tooLarge = keptSizeFault(message, body, era);
  if (tooLarge !== undefined) return { known: { ...begun, message, era, revision }, refusal: keptTooLarge(tooLarge) };
  const fault = era === 'stateless' && message !== undefined ? checkStandardHeaders(headers, message) : undefined;
  if (fault !== undefined) return { known: { ...begun, message, era, revision }, refusal: protocolRefusal(fault) };
  const session = sessionOf(world.seal, incoming, message, era);
  if (session === 'unknown') return { known: { ...begun, message, era, revision }, refusal: sessionUnknown() };
  const refusal = streamRefusal(incoming, session);
  if (refusal !== undefined) return { known: { ...begun, message, era, revision }, refusal };
  return prepareAdmitted(world, incoming, session, {
    ...begun,
    message,
    era,
    revision,
    client: clientInfoOf(message, body) ?? session?.client,
  });
}

/**
 * Refuses a GET whose Accept header does not name text/event-stream, and a DELETE without a session (MCP 2025-11-25,
 * Transports).
 */
function streamRefusal({ method, headers }: Incoming, session: OpenedSession | undefined): Refusal | undefined {
  if (method === 'DELETE') return session?.id === undefined ? SESSION_REQUIRED : undefined;
  return method === 'GET' && !/text\/event-stream/i.test(headers.accept ?? '') ? ACCEPT_REFUSED : undefined;
}

interface OpenedSession {
  readonly id: string | undefined;
  readonly client?: ClientInfo;
}

function prepareAdmitted(
  world: ExchangeWorld,
  incoming: Incoming,
  session: OpenedSession | undefined,
  known: Known & { readonly era: Era },
): Prepared {
  const { caller, body } = incoming;
  const { message, era } = known;
  const subscription = subscriptionOf(message, body);
  if ((subscription?.resources ?? 0) > SUBSCRIBED_RESOURCES_MAX) return { known, refusal: TOO_MANY_RESOURCES };
  const { reading, listAsked, sessionScope } = incoming;
  const scope = listScope(caller, era, session?.id ?? sessionScope);
  const needed =
    message === undefined || listAsked === true ? undefined : world.rules.needsList(message, body, caller, scope);
  if (message !== undefined && needed !== undefined) return { known, needsList: { message, scope, ...needed } };
  const admitted =
    message === undefined || body === undefined
      ? undefined
      : world.rules.admit(message, body, caller, { scope, reading });
  if (admitted?.refusal !== undefined) {
    const { refusal, detail: refusalDetail } = admitted;
    // The audit contains denials by policies. The log gets only the reason why policies could not decide.
    const detail = refusal.reason === 'policy-denied' ? undefined : refusalDetail;
    return { known: { ...known, refusalDetail, detail }, refusal };
  }
  const live = incoming.method === 'GET' || subscription !== undefined;
  const { messageBytes } = world;
  return {
    known: {
      ...known,
      backendName: admitted?.backendName,
      innerTool: admitted?.innerTool,
      innerRefusal: admitted?.innerRefusal,
    },
    calledTool: calledToolOf(message, admitted),
    exchange: {
      ...leavingRequest(incoming, message, admitted),
      era,
      session: session?.id,
      authorize: authorizeAs(world.credential, caller),
    },
    change: live
      ? undefined
      : changeOf(world, { message, body, caller, inSession: session?.id !== undefined, reading }),
    live: live
      ? (answer) =>
          openLiveStream(answer, { rules: world.live, caller, messageBytes, subscription, tasks: admitted?.tasks })
      : undefined,
  };
}

/** Returns a key that no session id of the server can imitate: session ids contain no NUL. */
function listScope({ key }: Caller, era: Era, session: string | undefined): string {
  return session === undefined ? `${key}\0${era}` : `${key}\0${era}\0${session}`;
}

function calledToolOf(message: Message | undefined, admitted: AdmittedMessage | undefined): string | undefined {
  if (message?.kind !== 'request' || message.method !== 'tools/call') return undefined;
  return admitted?.shownName ?? message.target?.value ?? '';
}

/**
 * Returns the backend's session. Returns undefined for `initialize`, which begins a session, and for MCP 2026-07-28.
 * Returns `unknown` for an invalid id.
 */
function sessionOf(
  seal: SessionSeal,
  { headers, caller, backendSession }: Incoming,
  message: Message | undefined,
  era: Era,
): OpenedSession | undefined | 'unknown' {
  if (backendSession !== undefined) return backendSession;
  const given = headers[HEADERS.sessionId];
  if (given === undefined || era === 'stateless') return undefined;
  if (message?.kind === 'request' && message.method === 'initialize') return undefined;
  const opened = typeof given === 'string' ? seal.open(given, caller.key) : undefined;
  return opened === undefined ? 'unknown' : { id: opened.id, client: infoOf(opened.data) };
}
