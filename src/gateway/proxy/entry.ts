// The frame of one request of a client: its id, what every answer to it carries, and the one place where it ends: counted,
// traced, logged and audited, refused or not.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Era } from '../backends/backend.ts';
import type { Message } from '../wire/message.ts';
import type { AdmittedMessage } from './admit.ts';
import type { Caller } from './caller.ts';
import type { ClientInfo } from './client-info.ts';
import { type Refusal, refusalBody } from './faults.ts';
import type { Outcome } from './outcome.ts';

/** What is known of a request by the time that it ends. */
export interface Known {
  readonly caller?: Caller;
  readonly message?: Message;
  readonly era?: Era;
  readonly revision?: string;
  /** Name of the tool at the server, where it is another than the client's. */
  readonly backendName?: string;
  /** Of the tool that `call_tool` calls. */
  readonly innerTool?: string;
  /** Why the caller may not call that one; undefined where it may. */
  readonly innerRefusal?: AdmittedMessage['innerRefusal'];
  readonly requestBytes?: number;
  /** As the client sent it, or as webhooks have changed it. */
  readonly body?: Buffer;
  /** What the client says of itself. */
  readonly client?: ClientInfo;
  /** Which policies refused it, or what kept them from deciding; says nothing of values. */
  readonly refusalDetail?: string;
  /** `name: outcome` of each webhook that was asked. */
  readonly webhooks?: readonly string[];
  /** The body as the client sent it, if webhooks have changed it. */
  readonly received?: Buffer;
  /** Limits of all replicas were counted by this one alone. Absent: together, or none applied. */
  readonly rateLimits?: 'replica';
  /** For the log alone. */
  readonly detail?: string;
}

export interface Ended extends Known {
  readonly status: number;
  readonly outcome: Outcome | 'denied';
  /** A stable word; empty where nothing was refused or broke. */
  readonly reason: string;
  /** Of the answer's JSON-RPC error, where it was read. */
  readonly rpcErrorCode?: number;
  /** For the log alone. */
  readonly detail?: string;
  readonly responseBytes: number;
  /** The JSON-RPC response, where someone wants it and it is small enough. */
  readonly answer?: Buffer;
}

export interface Entry {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Of every answer. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Answers with a refusal; the request ends with it. */
  refuse(refusal: Refusal, known?: Known): void;
  /** Once, when the answer has ended. */
  end(ended: Ended): void;
}

export interface EntryOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ended: (ended: Ended) => void;
}

const DENIED: readonly number[] = [401, 403];

export function createEntry({ request, response, requestId, headers, ended }: EntryOptions): Entry {
  let over = false;

  function end(how: Ended): void {
    if (over) return;
    over = true;
    ended(how);
  }

  return {
    request,
    response,
    requestId,
    headers,
    end,
    refuse(refusal, known = {}) {
      const id = known.message?.kind === 'request' ? known.message.id : undefined;
      const body = refusalBody(refusal, id);
      if (response.headersSent) response.destroy();
      else {
        response.writeHead(refusal.status, {
          'content-type': 'application/json',
          'content-length': body.length,
          ...headers,
          ...refusal.headers,
        });
        response.end(request.method === 'HEAD' ? undefined : body);
      }
      const outcome = DENIED.includes(refusal.status) ? 'denied' : 'error';
      const { status, code: rpcErrorCode, reason } = refusal;
      end({ ...known, status, outcome, rpcErrorCode, reason, responseBytes: body.length });
    },
  };
}

/** What a client sends as its id goes to the log and back: only what is harmless in both. */
export function givenRequestId(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value) ? value : undefined;
}
