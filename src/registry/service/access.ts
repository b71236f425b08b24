// Requires a valid token for requests that are not public.

import type { FastifyReply, onRequestAsyncHookHandler } from 'fastify';
import { authorizationHeaders } from '#auth/bearer.ts';
import { challenge } from '#auth/challenge.ts';
import { type Identity, READ_SCOPE, type RegistryScope, WRITE_SCOPE } from '#auth/identity.ts';
import type { Authenticate } from '#auth/providers.ts';
import { isPublic } from '#auth/publicpaths.ts';
import { explain, type PublicRejection, publicRejection, type Rejection } from '#auth/rejection.ts';
import type { OAuthConfig } from '#contracts/registry/service.ts';
import { sendRefusal } from './answer.ts';

export interface AccessOptions {
  readonly authenticate: Authenticate;
  readonly oauth: OAuthConfig;
  readonly publicPaths: readonly string[];
  /**
   * Counts a checked token. Receives `accepted` or the code of the rejection, and the provider that accepted the token.
   * `provider` is empty for rejected tokens.
   */
  readonly countToken: (outcome: string, provider: string) => void;
}

/**
 * Returns a hook for requests whose path or route is not public. Responds with a challenge: 401 to an invalid token,
 * and 403 to a token without the scope. Responds with 503 if no provider can check the token.
 */
export function requireToken(options: AccessOptions): onRequestAsyncHookHandler {
  const { authenticate, oauth, publicPaths, countToken } = options;
  return async function checkToken(request, reply) {
    const { public: isOpen = false, changes = false } = request.routeOptions.config;
    // Public paths are for reading only: routes that start work always need a token.
    if (isOpen || (!changes && isPublic(request.url, publicPaths))) return;
    const needed = oauth.enforceScopes || changes ? scopeFor(request.method) : undefined;
    const authentication = await authenticate(authorizationHeaders(request.raw.rawHeaders));
    const rejection = authentication.ok ? scopeMissing(authentication.identity, needed) : authentication.rejection;
    countToken(rejection?.reason ?? 'accepted', authentication.ok ? authentication.identity.provider : '');
    if (rejection === undefined) {
      if (authentication.ok) request.log.debug(shown(authentication.identity), 'token accepted');
      return;
    }
    request.log.info({ code: rejection.reason, ...details(rejection) }, explain(rejection.reason));
    return turnAway(reply, oauth, publicRejection(rejection), needed);
  };
}

/** Leaves out claims, because they may contain personal data. */
function shown({ provider, subject, scopes }: Identity): Omit<Identity, 'claims'> {
  return { provider, subject, scopes };
}

function scopeFor(method: string): RegistryScope {
  return method === 'GET' || method === 'HEAD' ? READ_SCOPE : WRITE_SCOPE;
}

function scopeMissing({ scopes, subject }: Identity, scope: RegistryScope | undefined): Rejection | undefined {
  if (scope === undefined || scopes.includes(scope)) return undefined;
  return { reason: 'scope-missing', scope, subject };
}

/**
 * `needed` is the scope that each challenge names, so that clients request it in their first login. undefined if scopes
 * are not enforced.
 */
function turnAway(
  reply: FastifyReply,
  oauth: OAuthConfig,
  shown: PublicRejection,
  needed: RegistryScope | undefined,
): FastifyReply {
  if (shown.status === 503) return sendRefusal(reply, { code: 'tokens-unavailable', message: shown.message });
  const value = challenge(oauth, { scope: needed, ...shown });
  return reply
    .code(shown.status)
    .header('www-authenticate', value)
    .header('cache-control', 'no-store')
    .send({ error: shown.message });
}

function details(rejection: Rejection): object {
  const { reason: _, ...data } = rejection;
  return data;
}
