// Limits, per caller, the bytes of notifications that are still being sent to members after the client got its answer.

/** Equals the default maximum size of a message. */
const BYTES_MAX = 4 * 1024 * 1024;

export interface CallerBytes {
  /**
   * Reserves bytes. Returns a function that releases the bytes, or undefined if the caller's limit is reached. A caller
   * without reservations always gets the bytes.
   */
  take(caller: string, bytes: number): (() => void) | undefined;
}

export function createCallerBytes(): CallerBytes {
  const taken = new Map<string, number>();
  return {
    take(caller, bytes) {
      const before = taken.get(caller) ?? 0;
      if (before > 0 && before + bytes > BYTES_MAX) return undefined;
      taken.set(caller, before + bytes);
      return () => {
        const left = (taken.get(caller) ?? 0) - bytes;
        if (left > 0) taken.set(caller, left);
        else taken.delete(caller);
      };
    },
  };
}
