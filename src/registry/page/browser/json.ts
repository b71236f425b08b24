// Reads values that came over the wire and may be anything: what has not the expected form is as good as absent.

export type Members = Readonly<Record<string, unknown>>;

export function members(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined where it is no text or an empty one. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function texts(value: unknown): readonly string[] {
  return items(value).filter((item) => typeof item === 'string' && item !== '') as readonly string[];
}

/** A default, which may be a number or a truth value in documents of older schemas. */
export function scalar(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : text(value);
}
