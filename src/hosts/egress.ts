// Reads the proxies for outgoing connections from the environment.

import { type Egress, egressOf } from '#adapters/http/egress.ts';

/** Lower-case names take precedence. Ignores HTTP_PROXY, as curl does: a client's header can set it in CGI programs. */
export function egressFrom(environment: NodeJS.ProcessEnv): Egress {
  const { https_proxy, HTTPS_PROXY, http_proxy, no_proxy, NO_PROXY } = environment;
  return egressOf({ https: https_proxy ?? HTTPS_PROXY, http: http_proxy, except: no_proxy ?? NO_PROXY });
}
