// The parts of undici that the proxy, the guarded client and the cluster's work with, without those that nothing here
// uses (fetch, caches, WebSockets): loading them takes twice the time and the memory of these. The package has no entry
// of its own for them, so the paths hold for the version that is pinned.

import { createRequire } from 'node:module';
import type * as undici from 'undici';

const load = createRequire(import.meta.url);

export const Agent: typeof undici.Agent = load('undici/lib/dispatcher/agent.js');
export const Pool: typeof undici.Pool = load('undici/lib/dispatcher/pool.js');
export const errors: typeof undici.errors = load('undici/lib/core/errors.js');
export const buildConnector: typeof undici.buildConnector = load('undici/lib/core/connect.js');

/** Few clusters are behind a proxy. The agent sends CONNECT, which no other client here needs. */
export function loadProxyAgent(): typeof undici.ProxyAgent {
  addMethods({ connect: load('undici/lib/api/api-connect.js') });
  return load('undici/lib/dispatcher/proxy-agent.js');
}

addMethods({ request: load('undici/lib/api/api-request.js') });

/** Adds methods as the package's own entry does for every dispatcher. */
function addMethods(methods: object): void {
  Object.assign(load('undici/lib/dispatcher/dispatcher.js').prototype, methods);
}
