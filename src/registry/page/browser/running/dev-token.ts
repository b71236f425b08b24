// Stores the token of `skep dev`. The URL that `skep dev` prints contains the token in its fragment, which browsers do
// not send to servers. The page stores the token in localStorage, for other tabs and reloads.

export interface DevToken {
  /** Returns the token, or an empty text if the page has none. */
  readonly value: () => string;
  /** Moves the token from the URL to the storage, so that readers do not share it with a link. */
  readonly take: () => void;
  /** Deletes the token, because `skep dev` no longer accepts it. */
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
      // Another tab may have stored a new token.
      if (storage()?.getItem(KEY) === kept) storage()?.removeItem(KEY);
      kept = '';
    },
  };
}

/** Returns undefined if the browser's settings forbid storage. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
