// Opens the authorization server of a proxy, if the proxy's configuration has one. Other keys of this configuration
// determine some of the settings.

import type { Logger } from 'pino';
import type { Outbound } from '#adapters/http/outbound.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { audienceOf } from '#gateway/proxy/settings.ts';
import type { Environment } from '#std/environment.ts';
import type { Metrics } from '#std/telemetry/metrics.ts';
import { type OpenIssuer, openIssuer } from '../issuer.ts';
import type { WatchedFiles } from '../watched-files.ts';

interface ProxyIssuerOptions {
  readonly config: RunConfig;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
}

/** Throws a Failure if the configuration, a key or a secret cannot be used. */
export async function openProxyIssuer(
  { config, environment, files, logger }: ProxyIssuerOptions,
  outbound: Outbound,
  metrics: Metrics,
): Promise<OpenIssuer | undefined> {
  const { embedded_auth_server_config: block, oidc_config: oidc } = config;
  if (block === undefined) return undefined;
  return openIssuer({
    config: block,
    hostAudience: oidc === undefined ? '' : audienceOf(oidc),
    hostIssuer: oidc?.issuer,
    trustForwarded: config.trust_proxy_headers,
    // A server on standard streams receives no headers, and therefore no tokens.
    injects: () => config.transport !== 'stdio' && block.disable_upstream_token_injection !== true,
    ...{ environment, files, outbound, logger, metrics },
  });
}
