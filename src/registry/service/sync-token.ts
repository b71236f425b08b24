// Requires a token from a file for sync requests to a service without identity providers.

import type { onRequestAsyncHookHandler } from 'fastify';
import { authorizationHeaders, readBearer } from '#auth/bearer.ts';
import type { AuthPorts } from '#auth/ports.ts';
import { isOneOf } from '#std/secret.ts';
import { sendRefusal } from './answer.ts';

/** Returns a hook for routes that start work. Reads `file` at each request, so that the token can be replaced. */
export function requireSyncToken(files: AuthPorts['files'], file: string | undefined): onRequestAsyncHookHandler {
  return async function checkSyncToken(request, reply) {
    if (request.routeOptions.config.changes !== true) return;
    if (file === undefined) {
      return sendRefusal(reply, {
        code: 'sync-refused',
        message: 'a manual sync is not allowed: there is no token for it',
      });
    }
    const bearer = readBearer(authorizationHeaders(request.raw.rawHeaders));
    const known = (await files.read(file)).trim();
    if (bearer.ok && known !== '' && isOneOf(bearer.token, [known])) return;
    reply.header('www-authenticate', 'Bearer realm="mcp-registry"');
    return sendRefusal(reply, { code: 'sync-refused', message: 'a manual sync needs its token' }, 401);
  };
}
