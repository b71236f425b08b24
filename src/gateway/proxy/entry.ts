// Frames one request of a client: sets the headers of the answer, sends refusals, and reports the end of the request
// once.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Era } from '../backends/backend.ts';
import type { Message } from '../wire/message.ts';
import type { AdmittedMessage } from './admit.ts';
import type { Caller } from './caller.ts';
import type { ClientInfo } from './client-info.ts';
import { type Refusal, refusalBody } from './faults.ts';
import type { Outcome } from './outcome.ts';

export interface Known {
  readonly caller?: Caller;
  readonly message?: Message;
  readonly era?: Era;
  readonly revision?: string;
  /** Name of the tool, or id of the task, at the server. Absent if clients use the same text. */
  readonly backendName?: string;
  /** Tool that `call_tool` calls, or the tool that created the task. */
  readonly innerTool?: string;
  /** Returns why the caller may not call `innerTool`. Returns undefined if the call is allowed. */
  readonly innerRefusal?: AdmittedMessage['innerRefusal'];
  readonly requestBytes?: number;
  /** Body that the client sent, or the body that webhooks returned. */
  readonly body?: Buffer;
  readonly client?: ClientInfo;
  /** Policies that refused, or why the policies could not be evaluated. Contains no values of arguments. */
  readonly refusalDetail?: string;
  /** `name: outcome` of each called webhook. */
  readonly webhooks?: readonly string[];
  /** Body that the client sent, if webhooks have changed it. */
  readonly received?: Buffer;
  /**
   * Set if only this replica counted the call in the shared limits. Absent if all replicas counted together, or if no
   * limit applied.
   */
  readonly rateLimits?: 'replica';
  /** Explanation for the log only. */
  readonly detail?: string;
}

export interface Ended extends Known {
  readonly status: number;
  readonly outcome: Outcome | 'denied';
  /** Stable code of a refusal or fault. Empty for other requests. */
  readonly reason: string;
  /** Code of the JSON-RPC error, if the proxy could read the answer. */
  readonly rpcErrorCode?: number;
  /** Explanation for the log only. */
  readonly detail?: string;
  readonly responseBytes: number;
  /** JSON-RPC response, if the audit records responses and the size limit permits it. */
  readonly answer?: Buffer;
}

export interface Entry {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Headers of every answer. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sends a refusal and ends the request. */
  refuse(refusal: Refusal, known?: Known): void;
  /** Reports the end of the request. Later calls have no effect. */
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

/** Returns the client's request id if it is safe in logs and answers. */
export function givenRequestId(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value) ? value : undefined;
}
