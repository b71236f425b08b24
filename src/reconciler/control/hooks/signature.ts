// Checks whether the sender of a webhook knows the secret, by the method of each Git server. The check covers the
// received bytes and takes constant time.

import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isOneOf } from '#std/secret.ts';

export type Provider = 'forgejo' | 'gitea' | 'github' | 'gitlab';

export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Signed {
  readonly provider: Provider;
  readonly genuine: boolean;
}

/**
 * Maximum age of a signature by Standard Webhooks, which GitLab's signing tokens follow: an older request may be a
 * replay.
 */
const TOLERANCE_MS = 5 * 60_000;

interface Scheme {
  readonly header: string;
  readonly provider: Provider;
  /** Returns true if the signature is valid. `value` is the value of the header. */
  isGenuine(value: string, delivery: Delivery, secrets: readonly string[], now: number): boolean;
}

const isHexSigned: Scheme['isGenuine'] = (value, { body }, secrets) => isOneOf(value, hexSignatures(body, secrets));

/**
 * Forgejo and Gitea send their own header in addition to GitHub's. The signature in the first header of this list that
 * is present is checked, and no other header can replace it. So the order matters.
 */
const SCHEMES: readonly Scheme[] = [
  { header: 'x-forgejo-signature', provider: 'forgejo', isGenuine: isHexSigned },
  { header: 'x-gitea-signature', provider: 'gitea', isGenuine: isHexSigned },
  {
    header: 'x-hub-signature-256',
    provider: 'github',
    isGenuine: (value, { body }, secrets) =>
      isOneOf(
        value,
        hexSignatures(body, secrets).map((each) => `sha256=${each}`),
      ),
  },
  { header: 'webhook-signature', provider: 'gitlab', isGenuine: isSigned },
  { header: 'x-gitlab-token', provider: 'gitlab', isGenuine: (value, _delivery, secrets) => isOneOf(value, secrets) },
];

/** Returns true if the request has a signature header. The body need not have arrived. */
export function claimsSignature(headers: IncomingHttpHeaders): boolean {
  return SCHEMES.some((scheme) => header(headers, scheme.header) !== undefined);
}

/** Returns undefined if the request has no signature. */
export function checkSignature(delivery: Delivery, secrets: readonly string[], now: number): Signed | undefined {
  for (const scheme of SCHEMES) {
    const value = header(delivery.headers, scheme.header);
    if (value === undefined) continue;
    return { provider: scheme.provider, genuine: scheme.isGenuine(value, delivery, secrets, now) };
  }
  return undefined;
}

function hexSignatures(body: Buffer, secrets: readonly string[]): string[] {
  return secrets.map((secret) => createHmac('sha256', secret).update(body).digest('hex'));
}

/** Checks `v1,BASE64` of the id, the time and the body. There are several signatures while a token is replaced. */
function isSigned(signatures: string, { headers, body }: Delivery, secrets: readonly string[], now: number): boolean {
  const id = header(headers, 'webhook-id') ?? '';
  const timestamp = header(headers, 'webhook-timestamp') ?? '';
  const sentAt = Number(timestamp) * 1000;
  if (timestamp === '' || !(Math.abs(now - sentAt) <= TOLERANCE_MS)) return false;
  const known = secrets.map((secret) => {
    const hmac = createHmac('sha256', decodeSigningKey(secret)).update(`${id}.${timestamp}.`).update(body);
    return `v1,${hmac.digest('base64')}`;
  });
  return signatures.split(' ').some((each) => isOneOf(each, known));
}

const KEY_PREFIX = 'whsec_';

function decodeSigningKey(secret: string): Buffer {
  return secret.startsWith(KEY_PREFIX)
    ? Buffer.from(secret.slice(KEY_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
