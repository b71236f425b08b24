// Whether what someone sent is a secret that we know, without telling by the time it takes how much of it is right.

import { createHash, timingSafeEqual } from 'node:crypto';

/** Every known one is compared, whatever the first says. */
export function isOneOf(given: string, known: readonly string[]): boolean {
  const digest = digestOf(given);
  return known.map((each) => timingSafeEqual(digest, digestOf(each))).includes(true);
}

/** Of one length, which `timingSafeEqual` needs and which hides that of the secret. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
