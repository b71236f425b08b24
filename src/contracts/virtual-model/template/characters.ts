// Decides which characters names in Go templates may contain.

/**
 * Returns the character at a UTF-16 index, with both of its surrogates. Returns undefined after the end of the text.
 */
export function codePoint(text: string, at: number): string | undefined {
  const code = text.codePointAt(at);
  return code === undefined ? undefined : String.fromCodePoint(code);
}

export function isAlphanumeric(char: string | undefined): boolean {
  return char !== undefined && /^[_\p{L}\p{Nd}]$/u.test(char);
}
