// Tracks the reading of a pattern, and why it ended early.

export interface Cursor {
  /** The pattern by code points. */
  readonly text: readonly string[];
  at: number;
  /** The first reason to refuse the pattern. */
  refusal?: string;
}

export function peek(cursor: Cursor, ahead = 0): string | undefined {
  return cursor.text[cursor.at + ahead];
}

/** Refuses the pattern. Nothing is left to read after this, so every loop over the cursor ends. */
export function refusePattern(cursor: Cursor, reason: string): void {
  cursor.refusal ??= reason;
  cursor.at = cursor.text.length;
}
