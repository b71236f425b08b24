// Accepts requests with a valid token, and refuses other requests.

import type { FastifyReply, onRequestAsyncHookHandler } from 'fastify';
import { authorizationHeaders } from '#auth/bearer.ts';
import { challenge } from '#auth/challenge.ts';
import { type Identity, READ_SCOPE, type Scope, WRITE_SCOPE } from '#auth/identity.ts';
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
   * Receives `accepted` or the code of the rejection, and the name of the provider that issued the token; empty if the
   * provider is unknown.
   */
  readonly countToken: (outcome: string, provider: string) => void;
}

/**
 * Returns a hook for every request whose path and route are not public: without a valid token it responds 401, with a
 * token that lacks the scope 403, each with a challenge; 503 if no provider could check the token.
 */
export function requireToken(options: AccessOptions): onRequestAsyncHookHandler {
  const { authenticate, oauth, publicPaths, countToken } = options;
  return async function checkToken(request, reply) {
    const { public: isOpen = false, changes = false } = request.routeOptions.config;
    // A public path does not allow everyone to start work.
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

/** Leaves out claims: they may contain personal data, which do not belong in a log. */
function shown({ provider, subject, scopes }: Identity): Omit<Identity, 'claims'> {
  return { provider, subject, scopes };
}

function scopeFor(method: string): Scope {
  return method === 'GET' || method === 'HEAD' ? READ_SCOPE : WRITE_SCOPE;
}

function scopeMissing({ scopes, subject }: Identity, scope: Scope | undefined): Rejection | undefined {
  if (scope === undefined || scopes.includes(scope)) return undefined;
  return { reason: 'scope-missing', scope, subject };
}

/** `needed`: scope that every challenge names if it is enforced, so that clients request it at once. */
function turnAway(
  reply: FastifyReply,
  oauth: OAuthConfig,
  shown: PublicRejection,
  needed: Scope | undefined,
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
