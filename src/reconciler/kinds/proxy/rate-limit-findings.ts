// Finds rate limits for each user at a server whose callers are unknown.

import type { RateLimitFields } from '#contracts/gate/rate-limiting.ts';
import { hasOwnIssuer } from '../auth/external-auth-findings.ts';
import { type TokenSource, tokenSettings } from '../auth/token-settings.ts';
import type { Finding, View } from '../kind.ts';

interface LimitedServer extends TokenSource {
  readonly rateLimiting?: RateLimitFields;
  readonly externalAuthConfigRef?: { readonly name: string };
  readonly authServerRef?: { readonly name: string };
}

/**
 * Returns an error for each limit for users if callers are unknown. Without settings for tokens, callers are known only
 * if the proxy has its own authorization server. CEL cannot check this: its rule accepts any externalAuthConfigRef, as
 * ToolHive's rule does.
 */
export function rateLimitFindings(spec: LimitedServer, view: View): readonly Finding[] {
  const { rateLimiting } = spec;
  if (tokenSettings(spec, view) !== undefined || hasOwnIssuer(spec, view)) return [];
  const { perUser, tools = [] } = rateLimiting ?? {};
  const pointer = '/spec/rateLimiting';
  const pointers = [
    ...(perUser === undefined ? [] : [`${pointer}/perUser`]),
    ...tools.flatMap((tool, index) => (tool.perUser === undefined ? [] : [`${pointer}/tools/${index}/perUser`])),
  ];
  return pointers.map((at): Finding => {
    const message = 'callers are not authenticated, so calls of a user cannot be counted: set oidcConfigRef';
    return { code: 'rate-limit-without-users', severity: 'error', pointer: at, message };
  });
}
