// Serves the login of people: /login leads to the provider, /login/callback brings them back (OpenID Connect, code flow
// with PKCE, RFC 7636), and POST /logout ends a session.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#std/failure.ts';
import { createRateLimit, type RateLimit } from '#std/rate.ts';
import { isOneOf } from '#std/secret.ts';
import { answer, sendRefusal } from '../answer.ts';
import type { People } from '../login/people.ts';
import type { SessionDeps } from '../login/sessions.ts';
import type { AuditEntry, LoginVisit } from '../ports.ts';
import { addRoute } from '../route.ts';

/** Callbacks of one address. Each may lead to a request at the provider. */
const CALLBACKS_PER_MINUTE = 60;
const TEXT_BYTES = 32;

export interface LoginSubject extends SessionDeps {
  readonly people: People;
  readonly audit: (entry: AuditEntry) => void;
}

export function addLoginRoutes(app: FastifyInstance, subject: LoginSubject): void {
  const { people, random, monotonic, audit } = subject;
  const { login, cookies, sessions } = people;
  const waitOf = createRateLimit(CALLBACKS_PER_MINUTE, monotonic);
  const text = () => random(TEXT_BYTES).toString('base64url');

  addRoute(app, {
    method: 'GET',
    url: '/login',
    public: true,
    async handler(request, reply) {
      const visit = { state: text(), nonce: text(), verifier: text() };
      try {
        const url = await login.begin(visit);
        return redirect(reply.header('set-cookie', cookies.setVisit(visit)), url);
      } catch (error) {
        return sendFailure(people, request, reply, error);
      }
    },
  });
  addRoute(app, {
    method: 'GET',
    url: '/login/callback',
    public: true,
    handler: (request, reply) => finishLogin(subject, waitOf, request, reply),
  });
  addRoute(app, {
    method: 'POST',
    url: '/logout',
    handler({ caller, headers }, reply) {
      const id = cookies.session(headers.cookie);
      if (caller?.means === 'login' && id !== undefined) {
        sessions.close(id);
        audit({ action: 'logout', by: caller.name, about: '', result: 'done' });
      }
      return answer(reply.header('set-cookie', cookies.endSession), { status: 'logged out' });
    },
  });
}

async function finishLogin(
  { people, audit }: LoginSubject,
  waitOf: RateLimit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { login, cookies, sessions } = people;
  const wait = waitOf(request.ip);
  if (wait !== undefined)
    return sendRefusal(reply.header('retry-after', wait), 'control-login-rate-limited', 'too many logins at once');
  // The visit is over, whatever its result is.
  reply.header('set-cookie', cookies.endVisit);
  const visit = cookies.visit(request.headers.cookie);
  const parameters = new URL(request.url, login.url).searchParams;
  if (visit === undefined || !isAnswerTo(visit, parameters)) return sendBack(people, reply, 'unknown');
  try {
    const { role, ...person } = await login.finish(visit, parameters);
    if (role === undefined) {
      audit({ action: 'login', by: person.name, about: '', result: 'refused', code: 'control-login-no-role' });
      return sendBack(people, reply, 'no-role');
    }
    // A session that the browser had before is over, and its id with it.
    const former = cookies.session(request.headers.cookie);
    if (former !== undefined) sessions.close(former);
    const id = sessions.open({ ...person, role });
    audit({ action: 'login', by: person.name, about: `as ${role}`, result: 'done' });
    return redirect(reply.header('set-cookie', cookies.setSession(id)), `${login.url}/`);
  } catch (error) {
    return sendFailure(people, request, reply, error);
  }
}

function isAnswerTo({ state }: LoginVisit, parameters: URLSearchParams): boolean {
  const given = parameters.getAll('state');
  return given.length === 1 && isOneOf(given[0] ?? '', [state]);
}

function sendFailure(people: People, request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  if (!(error instanceof Failure)) throw error;
  request.log.warn({ code: 'control-login-failed', cause: error.code, reason: error.message }, 'a login failed');
  return sendBack(people, reply, error.retryable ? 'unavailable' : 'refused');
}

/** The page says the reason: it is a word of ours, and never a text of the provider. */
function sendBack(
  { login }: People,
  reply: FastifyReply,
  reason: 'unknown' | 'no-role' | 'unavailable' | 'refused',
): FastifyReply {
  return redirect(reply, `${login.url}/#/sign-in/${reason}`);
}

function redirect(reply: FastifyReply, url: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(url, 303);
}
