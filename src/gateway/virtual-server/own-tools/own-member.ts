// Presents the virtual server's own tools as one of its members, without network and credentials.

import type { Backend } from '../../backends/backend.ts';
import type { Member, Members } from '../members/member.ts';

/** Name of the own member. It is not a valid name in Kubernetes, so no other member can have it. */
export const OWN_MEMBER = '.own';

/** A time limit that never applies, since workflows have time limits of their own. */
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

/** Makes the own member available by its name only: its lists are not read. */
export function withOwnMember(members: Members, own: () => Member | undefined): Members {
  return { all: members.all, find: (name) => (name === OWN_MEMBER ? own() : members.find(name)) };
}
