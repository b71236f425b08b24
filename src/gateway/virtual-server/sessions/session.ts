// Defines a client's session at a virtual server: facts about the client, sessions at members, and subscriptions.

import type { JsonObject } from '#std/json.ts';
import type { BackendFault, Exchange } from '../../backends/backend.ts';
import type { AnswerHead } from '../health/outcomes.ts';

/** Facts from the client's `initialize`. */
export interface ClientFacts {
  /** Negotiated revision. */
  readonly revision: string;
  readonly capabilities: JsonObject;
  readonly clientInfo?: JsonObject;
}

export interface MemberSession {
  /** Absent if the member has no sessions. */
  readonly id?: string;
  /** Revision that was negotiated with the member. */
  readonly revision: string;
}

export type Joined =
  | { readonly ok: true; readonly at: MemberSession }
  /** `head` is the head of the HTTP answer to the failed `initialize`. */
  | { readonly ok: false; readonly fault: BackendFault; readonly head?: AnswerHead };

/** A call of the client that a member is executing. */
interface SessionCall {
  readonly member: string;
  /** Notes that the client has answered a request of the member. */
  answered(): void;
}

/** The stream on which the client listens for messages of members. */
export interface ListeningStream {
  /** Adds the messages of a member at which a session was opened. */
  attach(member: string): void;
  end(): void;
}

export interface Session {
  readonly id: string;
  readonly client: ClientFacts;
  readonly members: Map<string, MemberSession>;
  /** Sessions at members that are being opened. */
  readonly opening: Map<string, Promise<Joined>>;
  /** Members by the subscribed URIs. */
  readonly subscriptions: Map<string, string>;
  /** Calls in flight, by the JSON text of the client's request id. */
  readonly calls: Map<string, SessionCall>;
  /** Calls in which a member waits for a response of the client, by the id of that response. */
  readonly asked: Map<string, SessionCall>;
  logLevel: string | undefined;
  stream: ListeningStream | undefined;
  /** Last request without its message. Its headers are used to end the sessions at members. */
  last: Exchange | undefined;
  /** Time of the last use, in monotonic milliseconds. */
  usedAt: number;
  /** Time of the last check that the store still has the session, in monotonic milliseconds. */
  checkedAt: number;
  over: boolean;
}

export function newSession(id: string, client: ClientFacts, now: number): Session {
  return {
    ...{ id, client, members: new Map(), opening: new Map(), subscriptions: new Map() },
    ...{ calls: new Map(), asked: new Map(), logLevel: undefined, stream: undefined, last: undefined },
    ...{ usedAt: now, checkedAt: now, over: false },
  };
}

const CLIENT = 'client';
const LEVEL = 'level';
const MEMBER = 'member ';
const SUBSCRIPTION = 'uri ';

export const sessionFields = {
  level: LEVEL,
  member: (name: string) => MEMBER + name,
  subscription: (uri: string) => SUBSCRIPTION + uri,
} as const;

export function formatClient(client: ClientFacts): Readonly<Record<string, string>> {
  return { [CLIENT]: JSON.stringify(client) };
}

/** Returns the session. Returns undefined if the fields contain no client. */
export function readSession(id: string, fields: Readonly<Record<string, string>>, now: number): Session | undefined {
  const client = fields[CLIENT];
  if (client === undefined) return undefined;
  const session = newSession(id, JSON.parse(client), now);
  session.logLevel = fields[LEVEL];
  for (const [field, value] of Object.entries(fields)) {
    if (field.startsWith(MEMBER)) session.members.set(field.slice(MEMBER.length), JSON.parse(value));
    if (field.startsWith(SUBSCRIPTION)) session.subscriptions.set(field.slice(SUBSCRIPTION.length), value);
  }
  return session;
}
