// The proxies that the environment names, for everything that leaves.

import { type Egress, egressOf } from '#adapters/http/egress.ts';

/** As curl reads it: small letters before capitals, and http by small letters alone (a CGI header would set the other). */
export function egressFrom(environment: NodeJS.ProcessEnv): Egress {
  const { https_proxy, HTTPS_PROXY, http_proxy, no_proxy, NO_PROXY } = environment;
  return egressOf({ https: https_proxy ?? HTTPS_PROXY, http: http_proxy, except: no_proxy ?? NO_PROXY });
}
