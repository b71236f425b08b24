// What the reconciler's own listener needs of the program that it belongs to. Knows nothing about files or runs.

/** Secrets that somebody else keeps and may change at any time. */
export interface Secrets {
  /** Each of them is as good as the others, so that they can be changed without a gap. Throws Failure `secret-file-unreadable`. */
  values(): Promise<readonly string[]>;
}

/** How the program is; every reason is one sentence for a person. */
export interface Vitals {
  /** Why runs make no progress; undefined where they do, however slowly. */
  stuck(): string | undefined;
  /** Why nobody should rely on it now; empty where one may. */
  unready(): readonly string[];
}
