// Defines the characters that are allowed in names in Go templates.

/** Returns the whole character at a UTF-16 index, or undefined after the end. */
export function codePoint(text: string, at: number): string | undefined {
  const code = text.codePointAt(at);
  return code === undefined ? undefined : String.fromCodePoint(code);
}

export function isAlphanumeric(char: string | undefined): boolean {
  return char !== undefined && /^[_\p{L}\p{Nd}]$/u.test(char);
}
