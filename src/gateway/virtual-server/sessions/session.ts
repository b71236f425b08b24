// One session of a client with the virtual server: who the client is, its sessions at members, what it has subscribed to.

import type { JsonObject } from '#std/json.ts';
import type { BackendFault, Exchange } from '../../backends/backend.ts';
import type { AnswerHead } from '../health/outcomes.ts';

/** What the client said of itself in `initialize`. */
export interface ClientFacts {
  /** The revision that was agreed on. */
  readonly revision: string;
  readonly capabilities: JsonObject;
  readonly clientInfo?: JsonObject;
}

export interface MemberSession {
  /** Absent: the member keeps none. */
  readonly id?: string;
  /** The revision that was agreed on with the member. */
  readonly revision: string;
}

/** A session at a member, or why there is none. */
export type Joined =
  | { readonly ok: true; readonly at: MemberSession }
  /** `head`: of the HTTP answer to `initialize`, if it began no session. */
  | { readonly ok: false; readonly fault: BackendFault; readonly head?: AnswerHead };

/** A call of the client that a member answers. */
interface SessionCall {
  readonly member: string;
  /** The client has answered a request of the member, by the JSON text of its id there. */
  answered(): void;
}

/** The stream that the client listens to. */
export interface ListeningStream {
  /** The member has a session now. */
  attach(member: string): void;
  end(): void;
}

export interface Session {
  readonly id: string;
  readonly client: ClientFacts;
  readonly members: Map<string, MemberSession>;
  /** Sessions at members that are being opened. */
  readonly opening: Map<string, Promise<Joined>>;
  /** Members of the URIs that the client has subscribed to. */
  readonly subscriptions: Map<string, string>;
  /** Calls in flight, by the JSON text of the client's id. */
  readonly calls: Map<string, SessionCall>;
  /** Those that wait for the client to answer, by the id that it was given. */
  readonly asked: Map<string, SessionCall>;
  logLevel: string | undefined;
  stream: ListeningStream | undefined;
  /** Of the last request, without its message: members are notified with it when the session ends. */
  last: Exchange | undefined;
  /** Monotonic milliseconds. */
  usedAt: number;
  /** When the store was last asked whether it is still there. */
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

/** Undefined for what is none of ours. */
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
