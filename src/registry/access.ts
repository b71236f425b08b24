// Lets requests with a valid token through and refuses the others (document 1, Authentication). Knows no routes.

import type { onRequestAsyncHookHandler } from 'fastify';
import { challenge } from '../auth/challenge.ts';
import type { Authenticate } from '../auth/providers.ts';
import { isPublic } from '../auth/publicpaths.ts';
import { explain, publicRejection, type Rejection } from '../auth/rejection.ts';
import type { OAuthConfig } from '../contracts/registry-service.ts';

export interface AccessOptions {
  readonly authenticate: Authenticate;
  readonly oauth: OAuthConfig;
  readonly publicPaths: readonly string[];
}

/** A hook for every request: 401 with a challenge where the path is not public and no valid token came. */
export function requireToken({ authenticate, oauth, publicPaths }: AccessOptions): onRequestAsyncHookHandler {
  return async function checkToken(request, reply) {
    if (isPublic(request.url, publicPaths)) return;
    const verdict = await authenticate(headerValues(request.raw.rawHeaders, 'authorization'));
    if (verdict.ok) {
      request.log.debug(verdict.identity, 'token accepted');
      return;
    }
    const { rejection } = verdict;
    request.log.info({ code: rejection.reason, ...details(rejection) }, explain(rejection.reason));
    const shown = publicRejection(rejection);
    return reply
      .code(shown.status)
      .header('www-authenticate', challenge(oauth, shown))
      .header('cache-control', 'no-store')
      .send({ error: shown.message });
  };
}

/** Every value of a header: Node itself keeps only the first Authorization header and would hide the others. */
function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

function details(rejection: Rejection): object {
  const { reason: _, ...data } = rejection;
  return data;
}
