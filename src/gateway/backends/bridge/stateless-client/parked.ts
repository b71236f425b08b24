// Stores calls that wait for their client's answers in the memory of this process. Each call has a handle that is valid
// for one retry.

import { callerOwner } from '../../caller-key.ts';
import type { BridgeContext } from '../context.ts';

/**
 * Store of waiting calls. A call depends on its connection to the server, so other replicas cannot continue the call.
 */
export interface Parking<Call> {
  /**
   * Stores a call. Returns false if too many calls wait, in total or of this caller. Calls `expired` if the client does
   * not come back in time.
   */
  put(handle: string, caller: string, call: Call, expired: () => void): boolean;
  /** Removes and returns the call. A second retry with the same handle gets undefined. */
  take(handle: string): Call | undefined;
}

interface Parked<Call> {
  readonly call: Call;
  readonly owner: string;
  readonly stopTimer: () => void;
}

export function createParking<Call>({ ports, limits }: BridgeContext): Parking<Call> {
  const parked = new Map<string, Parked<Call>>();
  const counts = new Map<string, number>();

  function remove(handle: string): Parked<Call> | undefined {
    const found = parked.get(handle);
    if (found === undefined) return undefined;
    parked.delete(handle);
    const left = (counts.get(found.owner) ?? 1) - 1;
    if (left === 0) counts.delete(found.owner);
    else counts.set(found.owner, left);
    return found;
  }

  return {
    put(handle, caller, call, expired) {
      const owner = callerOwner(caller);
      const count = counts.get(owner) ?? 0;
      if (parked.size >= limits.parkedCalls || count >= limits.parkedCallsPerCaller) return false;
      const stopTimer = ports.clock.after(limits.parkedMs, () => {
        if (remove(handle) !== undefined) expired();
      });
      parked.set(handle, { call, owner, stopTimer });
      counts.set(owner, count + 1);
      return true;
    },
    take(handle) {
      const found = remove(handle);
      found?.stopTimer();
      return found?.call;
    },
  };
}
