// Keeps the token of `skep dev`. The address that it prints contains the token as a fragment, which browsers do not
// send to servers. The page stores it for this origin, so that other tabs and a reload have it.

export interface DevToken {
  /** Returns an empty text if the page was opened by another address. */
  readonly value: () => string;
  /** Removes the token from the address, so that it is not shared with a link. */
  readonly take: () => void;
  /** Called if `skep dev` refuses the token, because it has a new one. */
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
