// Reads the proxies for outgoing connections from the environment.

import { type Egress, egressOf } from '#adapters/http/egress.ts';

/**
 * Lower-case names take precedence, and only http_proxy is lower case, as in curl: a CGI header could set HTTP_PROXY.
 */
export function egressFrom(environment: NodeJS.ProcessEnv): Egress {
  const { https_proxy, HTTPS_PROXY, http_proxy, no_proxy, NO_PROXY } = environment;
  return egressOf({ https: https_proxy ?? HTTPS_PROXY, http: http_proxy, except: no_proxy ?? NO_PROXY });
}
