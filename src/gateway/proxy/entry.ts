// Frames one request of a client: creates its id and the headers of the answer, and records the request once in
// metrics, traces, log and audit, whether it is refused or not.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Era } from '../backends/backend.ts';
import type { Message } from '../wire/message.ts';
import type { AdmittedMessage } from './admit.ts';
import type { Caller } from './caller.ts';
import type { ClientInfo } from './client-info.ts';
import { type Refusal, refusalBody } from './faults.ts';
import type { Outcome } from './outcome.ts';

/** Facts about a request when it ends. */
export interface Known {
  readonly caller?: Caller;
  readonly message?: Message;
  readonly era?: Era;
  readonly revision?: string;
  /** Name of the tool at the server, if it differs from the client's name. */
  readonly backendName?: string;
  /** Tool that `call_tool` calls. */
  readonly innerTool?: string;
  /** Returns why the caller may not call the inner tool, or undefined if the call is allowed. */
  readonly innerRefusal?: AdmittedMessage['innerRefusal'];
  readonly requestBytes?: number;
  /** Body that the client sent, with the changes of webhooks. */
  readonly body?: Buffer;
  /** Name and version that the client states. */
  readonly client?: ClientInfo;
  /** Policies that refused, or the reason why they could not decide; contains no values. */
  readonly refusalDetail?: string;
  /** `name: outcome` of each webhook that was called. */
  readonly webhooks?: readonly string[];
  /** The client's original body, if webhooks have changed it. */
  readonly received?: Buffer;
  /**
   * Set if this replica alone counted the shared limits. Absent if all replicas counted together, or no limit applied.
   */
  readonly rateLimits?: 'replica';
  /** Detail for the log only. */
  readonly detail?: string;
}

export interface Ended extends Known {
  readonly status: number;
  readonly outcome: Outcome | 'denied';
  /** Stable code; empty without a refusal or fault. */
  readonly reason: string;
  /** Code of the answer's JSON-RPC error, if it was read. */
  readonly rpcErrorCode?: number;
  /** Detail for the log only. */
  readonly detail?: string;
  readonly responseBytes: number;
  /** JSON-RPC response, if it is recorded and small enough. */
  readonly answer?: Buffer;
}

export interface Entry {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Headers of every answer, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Answers with a refusal, which ends the request. */
  refuse(refusal: Refusal, known?: Known): void;
  /** Records the end of the answer. Called once. */
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

/** Accepts a client's request id only if it is harmless in the log and in the answer. */
export function givenRequestId(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value) ? value : undefined;
}
