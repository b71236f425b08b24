// Defines one session of a client with the virtual server: the client, its sessions at members, and its subscriptions.

import type { JsonObject } from '#std/json.ts';
import type { BackendFault, Exchange } from '../../backends/backend.ts';
import type { AnswerHead } from '../health/outcomes.ts';

/** The facts about a client from its `initialize`. */
export interface ClientFacts {
  /** Negotiated revision. */
  readonly revision: string;
  readonly capabilities: JsonObject;
  readonly clientInfo?: JsonObject;
}

export interface MemberSession {
  /** Id of the session. Absent if the member has no sessions. */
  readonly id?: string;
  /** Revision that was negotiated with the member. */
  readonly revision: string;
}

/** The session at a member, or the reason why it could not be opened. */
export type Joined =
  | { readonly ok: true; readonly at: MemberSession }
  /** `head` is the head of the HTTP answer to `initialize` that began no session. */
  | { readonly ok: false; readonly fault: BackendFault; readonly head?: AnswerHead };

/** A call of the client that a member answers. */
interface SessionCall {
  readonly member: string;
  /** Notes that the client has answered a request of the member. */
  answered(): void;
}

/** The stream on which the client listens. */
export interface ListeningStream {
  /** Adds the stream of a member that now has a session. */
  attach(member: string): void;
  end(): void;
}

export interface Session {
  readonly id: string;
  readonly client: ClientFacts;
  readonly members: Map<string, MemberSession>;
  /** Sessions at members that are being opened. */
  readonly opening: Map<string, Promise<Joined>>;
  /** Members by the URIs that the client has subscribed to. */
  readonly subscriptions: Map<string, string>;
  /** Calls in flight, by the JSON text of the client's id. */
  readonly calls: Map<string, SessionCall>;
  /** Calls that wait for an answer of the client, by the id of the question. */
  readonly asked: Map<string, SessionCall>;
  logLevel: string | undefined;
  stream: ListeningStream | undefined;
  /** Last request without its message, which is used to notify members when the session ends. */
  last: Exchange | undefined;
  /** Last use in monotonic milliseconds. */
  usedAt: number;
  /** Time of the last check that the store still has the session. */
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

/** Returns the session, or undefined if the fields do not form a session. */
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
