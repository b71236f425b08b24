// Allows requests with a token of `http.tokenFile`, and refuses all other requests.

import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { Failure } from '#std/failure.ts';
import { bearerToken, isOneOf } from '#std/secret.ts';
import { sendRefusal } from './answer.ts';
import type { Secrets } from './ports.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set if the route needs no token. */
    readonly public?: true;
  }
}

/**
 * Sends the refusal of a request: 403 if no token is configured, 401 if the request lacks it. Callers check
 * `reply.sent` after awaiting the call: a Fastify reply is itself a promise, so the awaited value is undefined in both
 * cases.
 */
export type TokenCheck = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

/** Returns a hook for every route that is not public. */
export function requireToken(check: TokenCheck): onRequestAsyncHookHandler {
  return async function checkToken(request, reply) {
    if (request.is404 || request.routeOptions.config.public === true) return;
    return check(request, reply);
  };
}

export function tokenCheck(tokens: Secrets | undefined): TokenCheck {
  return async function check(request, reply) {
    if (tokens === undefined) return sendRefusal(reply, 'control-closed', 'http.tokenFile is not set in skep.yaml');
    const known = await knownTokens(tokens, request);
    if (known === undefined) return sendRefusal(reply, 'control-token-unreadable', 'http.tokenFile cannot be read');
    const given = bearerToken(request.headers.authorization);
    if (given !== undefined && isOneOf(given, known)) return undefined;
    request.log.info({ code: 'control-unauthorized', remoteAddress: request.ip }, 'no token that is known');
    return sendRefusal(reply.header('www-authenticate', 'Bearer'), 'control-unauthorized', 'a valid token is needed');
  };
}

async function knownTokens(tokens: Secrets, request: FastifyRequest): Promise<readonly string[] | undefined> {
  try {
    return await tokens.values();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    request.log.error({ code: 'control-token-unreadable', reason: error.message }, 'no request can be admitted');
    return undefined;
  }
}
