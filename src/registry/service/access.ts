// Lets requests with a valid token through and refuses the others.

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
  /** Gets `accepted`, or the code of the rejection, and the name of the provider whose token it is; empty where it is no one's. */
  readonly judged: (outcome: string, provider: string) => void;
}

/**
 * A hook for every request whose path and route are not public: without a valid token 401, with one that lacks the scope 403, each
 * with a challenge; 503 where no one could tell.
 */
export function requireToken(options: AccessOptions): onRequestAsyncHookHandler {
  const { authenticate, oauth, publicPaths, judged } = options;
  return async function checkToken(request, reply) {
    const { public: isOpen = false, changes = false } = request.routeOptions.config;
    // A path that everybody may read is none at which everybody may ask for work.
    if (isOpen || (!changes && isPublic(request.url, publicPaths))) return;
    const needed = oauth.enforceScopes || changes ? scopeFor(request.method) : undefined;
    const verdict = await authenticate(authorizationHeaders(request.raw.rawHeaders));
    const rejection = verdict.ok ? scopeMissing(verdict.identity, needed) : verdict.rejection;
    judged(rejection?.reason ?? 'accepted', verdict.ok ? verdict.identity.provider : '');
    if (rejection === undefined) {
      if (verdict.ok) request.log.debug(shown(verdict.identity), 'token accepted');
      return;
    }
    request.log.info({ code: rejection.reason, ...details(rejection) }, explain(rejection.reason));
    return turnAway(reply, oauth, publicRejection(rejection), needed);
  };
}

/** Claims may hold personal data, which does not belong in a log. */
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

/** `needed`: named with every challenge where it is enforced, so that clients ask for it at once. */
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
