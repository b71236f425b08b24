// Presents many MCP servers as one backend.

import type { Backend, Era } from '../backends/backend.ts';
import { openSessionExchange } from './session-clients.ts';
import { openStatelessExchange } from './stateless-clients.ts';
import type { World } from './world.ts';

const BOTH: ReadonlySet<Era> = new Set<Era>(['session', 'stateless']);

/** `available` returns whether the virtual server can serve callers now. */
export function createVirtualServer(world: World, available: () => boolean): Backend {
  return {
    open(exchange, answer) {
      return exchange.era === 'stateless'
        ? openStatelessExchange(world, exchange, answer)
        : openSessionExchange(world, exchange, answer);
    },
    eras: () => BOTH,
    probe: async () => ({ available: available() }),
    async close(graceMs) {
      world.catalogue.stop();
      await world.sessions.stop();
      await Promise.all(world.members.all().map(({ backend }) => backend.close(graceMs)));
    },
  };
}
