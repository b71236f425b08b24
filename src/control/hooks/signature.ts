// Whether a webhook comes from somebody who knows the secret, in the way of each Git server. Over the bytes as they came,
// and in constant time. Knows nothing about what the webhook says.

import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isOneOf } from '../secret.ts';

export type Provider = 'forgejo' | 'gitea' | 'github' | 'gitlab';

export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Signed {
  readonly provider: Provider;
  readonly genuine: boolean;
}

/** Standard Webhooks, which GitLab's signing tokens follow: an older signature is a delivery sent again by somebody. */
const TOLERANCE_MS = 5 * 60_000;

const HEADERS = [
  'x-forgejo-signature',
  'x-gitea-signature',
  'x-hub-signature-256',
  'webhook-signature',
  'x-gitlab-token',
] as const;

/** Before the body is there. */
export function claimsSignature(headers: IncomingHttpHeaders): boolean {
  return HEADERS.some((name) => header(headers, name) !== undefined);
}

/**
 * Undefined where nothing is signed. Forgejo and Gitea send their own header and GitHub's: what is sent by the more
 * special name is judged, and no other may make up for it.
 */
export function checkSignature(delivery: Delivery, secrets: readonly string[], now: number): Signed | undefined {
  const { headers, body } = delivery;
  const forgejo = header(headers, 'x-forgejo-signature');
  if (forgejo !== undefined) return { provider: 'forgejo', genuine: isOneOf(forgejo, hexSignatures(body, secrets)) };
  const gitea = header(headers, 'x-gitea-signature');
  if (gitea !== undefined) return { provider: 'gitea', genuine: isOneOf(gitea, hexSignatures(body, secrets)) };
  const github = header(headers, 'x-hub-signature-256');
  if (github !== undefined) {
    const known = hexSignatures(body, secrets).map((each) => `sha256=${each}`);
    return { provider: 'github', genuine: isOneOf(github, known) };
  }
  const signatures = header(headers, 'webhook-signature');
  if (signatures !== undefined) return { provider: 'gitlab', genuine: isSigned(delivery, signatures, secrets, now) };
  const gitlab = header(headers, 'x-gitlab-token');
  return gitlab === undefined ? undefined : { provider: 'gitlab', genuine: isOneOf(gitlab, secrets) };
}

function hexSignatures(body: Buffer, secrets: readonly string[]): string[] {
  return secrets.map((secret) => createHmac('sha256', secret).update(body).digest('hex'));
}

/** `v1,BASE64` of the id, the time and the body; several of them while a token is changed. */
function isSigned({ headers, body }: Delivery, signatures: string, secrets: readonly string[], now: number): boolean {
  const id = header(headers, 'webhook-id') ?? '';
  const timestamp = header(headers, 'webhook-timestamp') ?? '';
  const sentAt = Number(timestamp) * 1000;
  if (timestamp === '' || !(Math.abs(now - sentAt) <= TOLERANCE_MS)) return false;
  const known = secrets.map((secret) => {
    const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
    return `v1,${hmac.digest('base64')}`;
  });
  return signatures.split(' ').some((each) => isOneOf(each, known));
}

const KEY_PREFIX = 'whsec_';

function keyOf(secret: string): Buffer {
  return secret.startsWith(KEY_PREFIX)
    ? Buffer.from(secret.slice(KEY_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
