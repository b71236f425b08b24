// Connects the login of people with the checks of requests: sessions, cookies, and the protection against other sites.

import type { FastifyRequest } from 'fastify';
import type { Refusal } from '../actions/permission.ts';
import type { Caller, Login } from '../ports.ts';
import { crossSiteRefusal } from './cross-site.ts';
import { createLoginCookies, type LoginCookies } from './login-cookies.ts';
import { createSessions, type SessionDeps, type Sessions } from './sessions.ts';

export interface People {
  readonly login: Login;
  readonly sessions: Sessions;
  readonly cookies: LoginCookies;
  /** Returns the caller of a request with the cookie, or why the request is refused; undefined without a session. */
  find(request: FastifyRequest): Caller | Refusal | undefined;
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
      return caller && (crossSiteRefusal(request, caller, origin) ?? caller);
    },
  };
}
