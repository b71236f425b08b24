// Keeps the token of `skep dev`. The address that `skep dev` prints contains the token as a fragment, which browsers do
// not send to servers. The page stores the token for this origin, so that other tabs and a reload have it.

export interface DevToken {
  /** Returns the token; empty if the page was opened by another address. */
  readonly value: () => string;
  /** Removes the token from the address, so that it is not shared with a link. */
  readonly take: () => void;
  /** Deletes the stored token, because `skep dev` refuses it and has a new token. */
  readonly forget: () => void;
}

const KEY = 'skep-dev-token';

export function openDevToken(): DevToken {
  let kept = storage()?.getItem(KEY) ?? '';

  return {
    value: () => kept,
    take() {
      const [, given] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
      if (given === undefined) return;
      kept = given;
      storage()?.setItem(KEY, given);
      history.replaceState(undefined, '', `${location.pathname}${location.search}`);
    },
    forget() {
      // Another tab may have been opened by an address with the new token.
      if (storage()?.getItem(KEY) === kept) storage()?.removeItem(KEY);
      kept = '';
    },
  };
}

/** Returns undefined if the reader's browser stores nothing. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
