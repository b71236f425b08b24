// Seals and opens `requestState`, the handle of a waiting call. A handle is valid for a limited time, for the caller
// that received it, and for retries of the same request (MCP 2026-07-28, basic/patterns/mrtr, Server Requirements).

import type { BridgeContext } from '../context.ts';

const PREFIX = 'parked.';

/** Returns the sealed handle. undefined if sealing fails. */
export function sealRequestState(
  { ports }: BridgeContext,
  caller: string,
  handle: string,
  digest: string,
): string | undefined {
  return ports.seal.seal({ id: PREFIX + handle, issuedAt: ports.clock.now(), data: { digest }, caller });
}

export type OpenedState =
  | { readonly ok: true; readonly handle: string }
  | { readonly ok: false; readonly reason: string };

export function openRequestState(
  { ports, limits }: BridgeContext,
  state: unknown,
  caller: string,
  digest: string,
): OpenedState {
  const opened = typeof state === 'string' ? ports.seal.open(state, caller) : undefined;
  if (opened === undefined || !opened.id.startsWith(PREFIX))
    return refusal('it was changed, or was not issued by this server');
  if (ports.clock.now() - opened.issuedAt > limits.parkedMs) return refusal('it is too old');
  if (opened.data?.digest !== digest) return refusal('it belongs to another request');
  return { ok: true, handle: opened.id.slice(PREFIX.length) };
}

function refusal(reason: string): OpenedState {
  return { ok: false, reason: `Invalid params: requestState is refused: ${reason}` };
}
