// Connects the login of people with the checks of requests: sessions, cookies, and the protection against other sites.

import type { FastifyRequest } from 'fastify';
import type { Refusal } from '../actions/permission.ts';
import type { Caller, Login } from '../ports.ts';
import { crossSiteRefusal } from './cross-site.ts';
import { createLoginCookies, type LoginCookies } from './login-cookies.ts';
import { createSessions, type SessionDeps, type Sessions } from './sessions.ts';

/** A refusal of a request with the cookie of a person. */
export interface RefusedPerson extends Refusal {
  /** Name of the person in records. */
  readonly by: string;
}

export interface People {
  readonly login: Login;
  readonly sessions: Sessions;
  readonly cookies: LoginCookies;
  /** Returns the caller of a request with the cookie, or why the request is refused; undefined without a session. */
  find(request: FastifyRequest): Caller | RefusedPerson | undefined;
}

export function createPeople(login: Login, deps: SessionDeps): People {
  const sessions = createSessions(deps, login.lifetimeMs);
  const cookies = createLoginCookies(login.url);
  const { origin } = new URL(login.url);
  return {
    login,
    sessions,
    cookies,
    find(request) {
      const id = cookies.session(request.headers.cookie);
      const caller = id === undefined ? undefined : sessions.find(id);
      const refusal = caller && crossSiteRefusal(request, caller, origin);
      return caller && refusal ? { ...refusal, by: caller.name } : caller;
    },
  };
}
