// Counts a tool call in the limits that all replicas share, before the server gets the call.

import type { CountedCall, RateLimits } from '../../gate/rate-limits.ts';
import { userOfCaller } from '../caller.ts';
import type { Entry, Known } from '../entry.ts';
import { CLIENT_CLOSED, denialRefusal, type Refusal } from '../faults.ts';
import type { Ready } from '../streamable-front.ts';

export interface CountedEnd {
  /** Proceeds with the call. `prepared` says whether this replica counted alone. */
  pass(prepared: Ready): void;
  refuse(refusal: Refusal, known: Known): void;
}

/**
 * Counts the call. Called after the policies, so that refused calls do not use up a limit. Calls `pass` at once if no
 * limit applies.
 */
export function countCall(
  limits: RateLimits | undefined,
  { response }: Pick<Entry, 'response'>,
  prepared: Ready,
  { pass, refuse }: CountedEnd,
): void {
  const call = limits === undefined ? undefined : countedCall(prepared);
  const taking = call === undefined ? undefined : limits?.take(call);
  if (taking === undefined) {
    pass(prepared);
    return;
  }
  taking.then(({ denial, detail, isAlone }) => {
    const known: Known = { ...prepared.known, ...(isAlone ? { rateLimits: 'replica' } : {}) };
    if (denial !== undefined) refuse(denialRefusal(denial), { ...known, refusalDetail: detail });
    else if (response.closed) refuse(CLIENT_CLOSED, known);
    else pass({ ...prepared, known });
  });
}

/**
 * Returns the tools to count: the called tool, and the tool that the called tool calls in turn unless policies refuse
 * that call. undefined if the message calls no tool.
 */
function countedCall({ calledTool: tool, exchange, known }: Ready): CountedCall | undefined {
  if (tool === undefined) return undefined;
  const { innerTool, innerRefusal } = known;
  const inner = innerTool === undefined || innerRefusal?.() !== undefined ? [] : [innerTool];
  return { user: userOfCaller(exchange.caller), tools: [tool, ...inner] };
}
