// Computes a name from a template: equal templates have equal names.

import { fnv1a32 } from '#std/hash.ts';
import { canonicalJson } from '#std/json.ts';

/** The alphabet of generated names in Kubernetes: it has no vowels, so that no words appear. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

export function templateHash(template: unknown): string {
  const digits = String(Number.parseInt(fnv1a32(canonicalJson(template ?? null)), 16));
  return [...digits].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
}
