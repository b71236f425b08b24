// The token of this start of `skep dev`: the address that it prints has it, as a fragment, which no browser sends to
// anybody. It is kept for this origin, so that other tabs and a reload have it; after the end of the start it is of no use.

export interface StartToken {
  /** Empty where the page was opened by another address. */
  readonly value: () => string;
  /** Takes it out of the address, where it would be passed on with a link. */
  readonly take: () => void;
  /** It is of another start. */
  readonly forget: () => void;
}

const KEY = 'skep-start-token';

export function openStartToken(): StartToken {
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
      // Another tab may have been opened by the address of a newer start.
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
