// Loads the parts of undici that the proxy, the guarded client and the cluster client use, without fetch, caches and
// WebSockets, which would take twice the time and the memory of these parts. The package exports no such part, so the
// paths are valid for the pinned version only.

import { createRequire } from 'node:module';
import type * as undici from 'undici';

const load = createRequire(import.meta.url);

export const Agent: typeof undici.Agent = load('undici/lib/dispatcher/agent.js');
export const Pool: typeof undici.Pool = load('undici/lib/dispatcher/pool.js');
export const errors: typeof undici.errors = load('undici/lib/core/errors.js');
export const buildConnector: typeof undici.buildConnector = load('undici/lib/core/connect.js');

/**
 * Loads the agent for clusters behind a proxy, which few are. It sends CONNECT, which no other client of ours needs.
 */
export function loadProxyAgent(): typeof undici.ProxyAgent {
  addMethods({ connect: load('undici/lib/api/api-connect.js') });
  return load('undici/lib/dispatcher/proxy-agent.js');
}

addMethods({ request: load('undici/lib/api/api-request.js') });

/** Adds methods as the package's own entry does for every dispatcher. */
function addMethods(methods: object): void {
  Object.assign(load('undici/lib/dispatcher/dispatcher.js').prototype, methods);
}
