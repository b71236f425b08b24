// Presents the virtual server's own tools as a member without network and credentials.

import type { Backend } from '../../backends/backend.ts';
import type { Member, Members } from '../members/member.ts';

/** Name of the own member. No other member can have this name, because it is not a valid Kubernetes name. */
export const OWN_MEMBER = '.own';

/** Practically unlimited: workflows have time limits of their own. */
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

/** Adds the own member to `find`, but not to `all`: its lists are not read. */
export function withOwnMember(members: Members, own: () => Member | undefined): Members {
  return { all: members.all, find: (name) => (name === OWN_MEMBER ? own() : members.find(name)) };
}
