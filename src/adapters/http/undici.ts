// Loads only the parts of undici that the proxy, the guarded client and the cluster client use. With fetch, caches and
// WebSockets, loading would take twice the time and memory. The package does not export the loaded parts, so their
// paths are valid only for the pinned version.

import { createRequire } from 'node:module';
import type * as undici from 'undici';

const load = createRequire(import.meta.url);

export const Agent: typeof undici.Agent = load('undici/lib/dispatcher/agent.js');
export const Pool: typeof undici.Pool = load('undici/lib/dispatcher/pool.js');
export const errors: typeof undici.errors = load('undici/lib/core/errors.js');
export const buildConnector: typeof undici.buildConnector = load('undici/lib/core/connect.js');

/** Loads the agent for clusters behind a proxy, which are rare. Only this agent sends CONNECT. */
export function loadProxyAgent(): typeof undici.ProxyAgent {
  addMethods({ connect: load('undici/lib/api/api-connect.js') });
  return load('undici/lib/dispatcher/proxy-agent.js');
}

addMethods({ request: load('undici/lib/api/api-request.js') });

/** Adds methods to dispatchers as the package's entry point does. */
function addMethods(methods: object): void {
  Object.assign(load('undici/lib/dispatcher/dispatcher.js').prototype, methods);
}
