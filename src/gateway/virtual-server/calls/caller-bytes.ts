// Limits the bytes per caller that are on their way to members although no client waits for them.

/** Default maximum size of one message. */
const BYTES_MAX = 4 * 1024 * 1024;

export interface CallerBytes {
  /** Reserves room. Returns a function that frees it, or undefined without room. A single message always gets room. */
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
