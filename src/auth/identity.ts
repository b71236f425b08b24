// Reads identity and scopes of a caller from an accepted token.

import type { JsonObject } from '#std/json.ts';
import { excerpt } from './excerpt.ts';

/** Scope that is advertised if the configuration names no scopes (registry server document, Discovery document). */
export const READ_SCOPE = 'mcp-registry:read';
export const WRITE_SCOPE = 'mcp-registry:write';

/** Claim with the id of a login, by which the proxy finds stored tokens of upstream providers. */
export const SESSION_CLAIM = 'tsid';

export type RegistryScope = typeof READ_SCOPE | typeof WRITE_SCOPE;

export interface Identity {
  readonly provider: string;
  readonly subject?: string;
  readonly scopes: readonly string[];
  /** All verified claims of the token. Logs must not contain them as a whole. */
  readonly claims: JsonObject;
}

export function identityOf(provider: string, claims: JsonObject): Identity {
  const subject = typeof claims.sub === 'string' ? { subject: excerpt(claims.sub) } : {};
  return { provider, ...subject, scopes: scopesOf(claims), claims };
}

/**
 * Reads `scope` (RFC 8693 section 4.2, RFC 7662 section 2.2), and `scp`, which some providers send. Each claim may be
 * text or a list.
 */
export function scopesOf({ scope, scp }: JsonObject): readonly string[] {
  const values = [scope, scp].flatMap((value) => (Array.isArray(value) ? value : [value]));
  const names = values.filter((value) => typeof value === 'string').flatMap((text) => text.split(' '));
  return [...new Set(names.filter((name) => name !== ''))];
}
