// Issues and verifies secrets of registered clients (RFC 6749 section 2.3.1). Only digests of secrets are stored.

import { timingSafeEqual } from 'node:crypto';
import { isWebRedirect } from '#std/address/loopback.ts';
import { sha256 } from '#std/hash.ts';
import type { IssuerPorts } from '../ports.ts';
import { type ClientSecret, SECRET_METHODS } from '../records.ts';
import type { ConfidentialClients } from '../settings.ts';

const SECRET_BYTES = 32;

export interface NewSecret {
  /** Plain text of the secret, for the answer. Never stored. */
  readonly text: string;
  readonly kept: ClientSecret;
}

/**
 * Returns a secret if the client requested a secret or must have one. undefined if a redirect URI is on loopback or has
 * a custom scheme: every copy of such an app would contain the secret. The answer says that such a client is public
 * (RFC 7591 section 3.2.1).
 */
export function secretFor(
  { random }: Pick<IssuerPorts, 'random'>,
  confidential: ConfidentialClients | undefined,
  { method: asked, redirectUris }: { readonly method: unknown; readonly redirectUris: readonly string[] },
): NewSecret | undefined {
  if (confidential === undefined || !redirectUris.every(isWebRedirect)) return undefined;
  const named = SECRET_METHODS.find((each) => each === asked);
  // Clients that request `none` but must have a secret send the secret in the form.
  const method = named ?? (isForced(confidential, redirectUris) ? 'client_secret_post' : undefined);
  if (method === undefined) return undefined;
  const text = `sks_${random(SECRET_BYTES).toString('base64url')}`;
  return { text, kept: { method, digest: sha256(text) } };
}

/** Returns the fault of a client that must have a secret but cannot protect it. */
export function forcedFault(
  confidential: ConfidentialClients | undefined,
  redirectUris: readonly string[],
): string | undefined {
  if (confidential === undefined || !isForced(confidential, redirectUris)) return undefined;
  if (redirectUris.every(isWebRedirect)) return undefined;
  return 'belongs to a client that gets a secret, so all its redirect URIs must be https outside loopback';
}

function isForced({ forced }: ConfidentialClients, redirectUris: readonly string[]): boolean {
  const places = forced.map(comparablePlace);
  return redirectUris.some((uri) => places.includes(comparablePlace(uri)));
}

/** Returns the same text for all spellings of a URL. A client could otherwise avoid its secret by another spelling. */
function comparablePlace(uri: string): string {
  const url = URL.parse(uri);
  if (url === null) return uri;
  const path = url.pathname.replaceAll(/%[0-9a-f]{2}/gi, plainCharacter);
  return `${url.protocol}//${url.hostname.replace(/\.$/, '')}:${url.port}${path}`;
}

/** Decodes unreserved characters, which need no escape (RFC 3986 section 6.2.2.2). */
function plainCharacter(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
}

/** Compares the digests in constant time. */
export function provesSecret({ digest }: ClientSecret, text: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(text)), Buffer.from(digest));
}

/**
 * Returns the id and the secret of a Basic header, form-decoded (RFC 6749 section 2.3.1). undefined if the header is
 * invalid.
 */
export function readBasic(authorization: string): { readonly id: string; readonly secret: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)].map(formDecoded);
  return colon < 1 || id === undefined || secret === undefined ? undefined : { id, secret };
}

function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    // The value is invalid. Ids and secrets of this server contain no characters that need encoding.
    return undefined;
  }
}
