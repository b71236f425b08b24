// The virtual server's own tools as one of its members, which needs no network and no credentials.

import type { Backend } from '../../backends/backend.ts';
import type { Member, Members } from '../members/member.ts';

/** No object of Kubernetes is called so. */
export const OWN_MEMBER = '.own';

/** Its own times are those of workflows: nothing here ends them. */
const TIMEOUT_MS = 86_400_000;

export function ownMember(backend: Backend): Member {
  return {
    name: OWN_MEMBER,
    url: '',
    transport: 'streamable-http',
    backend,
    credential: ({ headers }) => ({ ok: true, headers }),
    authType: '',
    needsProvider: false,
    perCaller: false,
    timeoutMs: TIMEOUT_MS,
    health: {
      report: () => ({ state: 'healthy', consecutiveFailures: 0, message: '' }),
      observe: () => undefined,
      admit: () => () => undefined,
      usable: () => true,
    },
  };
}

/** It is found by its name, and is none of those whose lists are read. */
export function withOwnMember(members: Members, own: () => Member | undefined): Members {
  return { all: members.all, find: (name) => (name === OWN_MEMBER ? own() : members.find(name)) };
}
