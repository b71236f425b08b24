// The token of `skep dev`: the address that it prints has it, as a fragment, which no browser sends to anybody. The page keeps it
// for this origin, so that other tabs and a reload have it.

export interface DevToken {
  /** Empty where the page was opened by another address. */
  readonly value: () => string;
  /** Takes it out of the address, where it would be passed on with a link. */
  readonly take: () => void;
  /** `skep dev` does not accept it: it has a new one. */
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

/** Undefined where the reader's browser keeps nothing. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
