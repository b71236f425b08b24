// Finds out who sends a request: a machine with a token of a file, or a person who has logged in. Refuses all other
// requests.

import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { Failure } from '#std/failure.ts';
import { bearerToken, isOneOf } from '#std/secret.ts';
import { sendRefusal } from './answer.ts';
import type { People, RefusedPerson } from './login/people.ts';
import type { Caller, Role, Secrets } from './ports.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set if the route needs no token. */
    readonly public?: true;
  }
  interface FastifyRequest {
    /** Undefined if the route is public. */
    caller: Caller | undefined;
  }
}

/**
 * Sets the caller of a request, or sends a refusal: 403 if no token and no login is configured, 401 if the request has
 * neither. Callers check `reply.sent` after awaiting the call: a Fastify reply is itself a promise, so the awaited value
 * is undefined in both cases.
 */
export type AccessCheck = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

export interface Access {
  /** Tokens that may read, and request a run. */
  readonly tokens?: Secrets;
  /** Tokens that may act. */
  readonly operatorTokens?: Secrets;
  /** Absent if nobody can log in. */
  readonly people?: Pick<People, 'find'>;
  /** Records a request that was refused although its login is known. */
  readonly refused?: (request: FastifyRequest, refused: RefusedPerson) => void;
}

/** Returns a hook for every route that is not public. */
export function requireCaller(check: AccessCheck): onRequestAsyncHookHandler {
  return async function checkCaller(request, reply) {
    if (request.is404 || request.routeOptions.config.public === true) return;
    return check(request, reply);
  };
}

export function accessCheck(access: Access): AccessCheck {
  const files = [
    { setting: 'http.operatorTokenFile', role: 'operator', secrets: access.operatorTokens },
    { setting: 'http.tokenFile', role: 'viewer', secrets: access.tokens },
  ] as const;
  const isClosed = access.people === undefined && files.every(({ secrets }) => secrets === undefined);
  return async function check(request, reply) {
    if (isClosed) return sendRefusal(reply, 'control-closed', 'http.tokenFile is not set in skep.yaml');
    const given = bearerToken(request.headers.authorization);
    const person = given === undefined ? access.people?.find(request) : undefined;
    if (person !== undefined && 'code' in person) {
      access.refused?.(request, person);
      return sendRefusal(reply, person.code, person.message);
    }
    request.caller = person;
    if (person !== undefined) return undefined;
    for (const { setting, role, secrets } of files) {
      if (secrets === undefined) continue;
      const known = await knownTokens(secrets, setting, request);
      if (known === undefined) return sendRefusal(reply, 'control-token-unreadable', `${setting} cannot be read`);
      request.caller = given === undefined ? undefined : callerWith(given, known, role);
      if (request.caller !== undefined) return undefined;
    }
    request.log.info({ code: 'control-unauthorized', remoteAddress: request.ip }, 'no token that is known');
    return sendRefusal(reply.header('www-authenticate', 'Bearer'), 'control-unauthorized', 'a valid token is needed');
  };
}

/** Names the line of the token: a digest would let readers of the records test guesses. */
function callerWith(given: string, known: readonly string[], role: Role): Caller | undefined {
  if (!isOneOf(given, known)) return undefined;
  const line = known.findIndex((each) => isOneOf(given, [each])) + 1;
  return { name: `${role} token ${line}`, role, means: 'token' };
}

async function knownTokens(
  secrets: Secrets,
  setting: string,
  request: FastifyRequest,
): Promise<readonly string[] | undefined> {
  try {
    return await secrets.values();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    request.log.error(
      { code: 'control-token-unreadable', setting, reason: error.message },
      'no request can be admitted',
    );
    return undefined;
  }
}

/** Parameters that carry tokens (RFC 6750 section 2.3), which logs and histories of browsers would keep. */
const TOKEN_PARAMETERS = ['token', 'access_token', 'id_token', 'authorization'];

/** Refuses requests with a token in their URL, also a right one. */
export async function refuseTokenInUrl(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const { query } = request;
  const names = typeof query === 'object' && query !== null ? Object.keys(query) : [];
  if (!names.some((name) => TOKEN_PARAMETERS.includes(name.toLowerCase()))) return undefined;
  return sendRefusal(reply, 'control-token-in-url', 'a token in a URL is refused, and counts as known to others');
}
