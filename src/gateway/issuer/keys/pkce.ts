// Verifies Proof Key for Code Exchange (RFC 7636). Supports only S256.

import { hash, timingSafeEqual } from 'node:crypto';

/** Challenge of 32 bytes (RFC 7636 section 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
/** Verifier of RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export function pkceChallenge(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}

export function isChallenge(text: string): boolean {
  return CHALLENGE.test(text);
}

export function provesChallenge(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  return timingSafeEqual(Buffer.from(pkceChallenge(verifier)), Buffer.from(challenge));
}
