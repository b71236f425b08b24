// Reads values from responses, which may contain any JSON: a value of another type counts as absent.

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

/** Returns a default, which may be a number or a boolean in documents of older schemas. */
export function scalar(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : text(value);
}
