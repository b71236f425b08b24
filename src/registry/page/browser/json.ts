// Reads values from responses with any JSON. A value of an unexpected type counts as absent.

export type Members = Readonly<Record<string, unknown>>;

export function members(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns undefined if the value is not a text or is empty. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function texts(value: unknown): readonly string[] {
  return items(value).filter((item) => typeof item === 'string' && item !== '') as readonly string[];
}

/** Returns a value as text. Documents of older schemas may have numbers and booleans instead of texts. */
export function scalar(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : text(value);
}
