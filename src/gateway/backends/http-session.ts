// Recognises streamable HTTP servers that report an unknown session with 400 instead of 404.

import { isObject } from '#std/json.ts';
import { ERRORS } from '../wire/errors.ts';
import type { Answer, BackendFault, Exchange } from './backend.ts';

/** Maximum size of a refusal. A longer answer passes unchanged. */
const REFUSAL_BYTES = 16 * 1024;

const SESSION_UNKNOWN: BackendFault = { reason: 'session-unknown', message: 'Session not found' };

/**
 * Wraps the answer to a request in a session. MCP 2025-11-25 (Transports, Session Management) requires 404 for a
 * session that has ended. Servers that follow an example of the official SDK send 400, for example after their pod was
 * replaced. A client that gets 400 never starts a new session. Therefore the returned answer fails with
 * `session-unknown`.
 */
export function recogniseLostSession({ session, message }: Exchange, answer: Answer): Answer {
  if (session === undefined || (message?.kind === 'request' && message.method === 'initialize')) return answer;
  let held: Held | undefined;

  function release(): void {
    const passing = held;
    held = undefined;
    if (passing === undefined) return;
    answer.head(passing.status, passing.headers);
    for (const chunk of passing.chunks) answer.data(chunk);
  }

  return {
    head(status, headers) {
      if (status === 400) held = { status, headers, chunks: [], bytes: 0 };
      else answer.head(status, headers);
    },
    data(chunk) {
      if (held === undefined) return answer.data(chunk);
      held.chunks.push(chunk);
      held.bytes += chunk.length;
      if (held.bytes > REFUSAL_BYTES) release();
      return true;
    },
    end() {
      if (held !== undefined && saysUnknownSession(Buffer.concat(held.chunks).toString())) {
        answer.fail(SESSION_UNKNOWN);
        return;
      }
      release();
      answer.end();
    },
    fail(fault) {
      release();
      answer.fail(fault);
    },
  };
}

interface Held {
  readonly status: number;
  readonly headers: Parameters<Answer['head']>[1];
  readonly chunks: Buffer[];
  bytes: number;
}

/**
 * Words in refusals of the official SDKs: "No valid session ID provided", "Session not found", "Server not
 * initialized".
 */
const ABOUT_SESSIONS = /session|not initialized/i;

function saysUnknownSession(text: string): boolean {
  const error = errorIn(text);
  if (error === undefined) return ABOUT_SESSIONS.test(text);
  if (error.code === ERRORS.sessionNotFound) return true;
  return error.code === ERRORS.badRequest && ABOUT_SESSIONS.test(String(error.message));
}

/** Returns the error of a JSON-RPC response. undefined if the text is not an error response. */
function errorIn(text: string): { readonly code?: unknown; readonly message?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isObject(value.error) ? value.error : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
