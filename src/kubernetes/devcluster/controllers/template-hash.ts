// Computes a name from a template. Equal templates have equal names.

import { fnv1a32 } from '#std/hash.ts';
import { canonicalJson } from '#std/json.ts';

/** Kubernetes' alphabet for generated names. Without vowels, names contain no words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

export function templateHash(template: unknown): string {
  const digits = String(Number.parseInt(fnv1a32(canonicalJson(template ?? null)), 16));
  return [...digits].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
}
