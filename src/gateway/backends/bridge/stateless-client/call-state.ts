// Defines a call of a client without sessions in a session at the server, with all its round trips to the client.

import type { JsonObject } from '#std/json.ts';
import type { NotificationMessage, RequestMessage, ResponseMessage } from '../../../wire/message.ts';
import type { Exchange, Flow } from '../../backend.ts';
import type { Reply } from '../reply.ts';
import type { BackendSession } from './backend-session.ts';
import type { SessionCall } from './participants.ts';
import type { Question } from './questions.ts';

/** Client request that waits for an answer: the first request, or a retry with answers. */
export interface Attempt {
  readonly exchange: Exchange;
  readonly body: Buffer;
  readonly request: RequestMessage;
  readonly reply: Reply;
  /** Lowest level of log messages for this request, as an index of LOG_LEVELS. */
  readonly logLevel?: number;
}

interface PendingQuestion {
  readonly question: Question;
  /** Whether the question was sent to the client. */
  asked: boolean;
}

export interface Call {
  readonly session: BackendSession;
  /** Lets other calls use the session from now on. */
  readonly release: () => void;
  readonly caller: string;
  readonly capabilities: JsonObject;
  /** Returns the digest of the requested action. A retry has the same digest. */
  readonly digest: () => string;
  participant?: SessionCall;
  /** Undefined while the call waits for the client to come back. */
  attempt?: Attempt;
  flow?: Flow;
  questions: PendingQuestion[];
  /** Number of questions so far. */
  asked: number;
  rounds: number;
  /** Notifications that came while the client was absent. */
  held: { readonly bytes: Buffer; readonly message: NotificationMessage }[];
  heldBytes: number;
  final?: { readonly bytes: Buffer; readonly response: ResponseMessage };
  /** Whether the client reads slowly. */
  blocked: boolean;
  over: boolean;
}
