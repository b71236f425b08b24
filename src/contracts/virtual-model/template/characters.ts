// The characters of which Go templates make names.

/** The whole character at a UTF-16 index; undefined behind the end. */
export function codePoint(text: string, at: number): string | undefined {
  const code = text.codePointAt(at);
  return code === undefined ? undefined : String.fromCodePoint(code);
}

export function isAlphanumeric(char: string | undefined): boolean {
  return char !== undefined && /^[_\p{L}\p{Nd}]$/u.test(char);
}
