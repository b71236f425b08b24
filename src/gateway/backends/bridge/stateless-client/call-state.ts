// Defines the state of a call of a client without sessions in a session at the server.

import type { JsonObject } from '#std/json.ts';
import type { NotificationMessage, RequestMessage, ResponseMessage } from '../../../wire/message.ts';
import type { Exchange, Flow } from '../../backend.ts';
import type { Reply } from '../reply.ts';
import type { BackendSession } from './backend-session.ts';
import type { SessionCall } from './participants.ts';
import type { Question } from './questions.ts';

/** Client request that waits for its answer: the first request of the call, or a retry with answers. */
export interface Attempt {
  readonly exchange: Exchange;
  readonly body: Buffer;
  readonly request: RequestMessage;
  readonly reply: Reply;
  /** Lowest level of log messages that this request asks for, as an index of LOG_LEVELS. */
  readonly logLevel?: number;
}

interface PendingQuestion {
  readonly question: Question;
  /** True if the client has received the question. */
  asked: boolean;
}

export interface Call {
  readonly session: BackendSession;
  /** Ends the exclusive use of the session, so that other calls can use it. */
  readonly release: () => void;
  readonly caller: string;
  readonly capabilities: JsonObject;
  /** Returns the digest of the request. A request and its retries have the same digest. */
  readonly digest: () => string;
  participant?: SessionCall;
  /** undefined while the call waits for the client's next request. */
  attempt?: Attempt;
  flow?: Flow;
  questions: PendingQuestion[];
  /** Number of questions of the server so far. */
  asked: number;
  rounds: number;
  /** Notifications that arrived while the client was absent. */
  held: { readonly bytes: Buffer; readonly message: NotificationMessage }[];
  heldBytes: number;
  final?: { readonly bytes: Buffer; readonly response: ResponseMessage };
  blocked: boolean;
  over: boolean;
}
