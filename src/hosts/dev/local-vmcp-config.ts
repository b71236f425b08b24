// Adapts the configuration of a virtual server to this machine: replaces the URL at which clients reach it. Addresses
// of members have been replaced before.

import { formatVmcpConfig, readVmcpConfig, VMCP_CONFIG_FILE } from '#contracts/vmcp-config.ts';
import { relocateAuthServer } from './local-auth-server.ts';

/**
 * Returns undefined if the file is not the configuration or cannot be read. The server itself reports an unreadable
 * configuration.
 */
export function relocateVmcpConfig(
  file: string,
  text: string,
  urlOf: (server: string) => string,
  apiServer: string,
): string | undefined {
  const read = file === VMCP_CONFIG_FILE ? readVmcpConfig(text) : undefined;
  if (read === undefined || 'fault' in read) return undefined;
  const { incomingAuth, authServer, ...others } = read.config;
  const { oidc } = incomingAuth;
  if (oidc === undefined) return formatVmcpConfig(read.config);
  const url = urlOf(read.config.name);
  const cluster = oidc.issuerIsApiServer === true ? { issuer: apiServer } : {};
  const issuer = authServer === undefined ? cluster : { issuer: url };
  return formatVmcpConfig({
    ...others,
    incomingAuth: { ...incomingAuth, oidc: { ...oidc, ...issuer, resource: url } },
    authServer: authServer && relocateAuthServer(authServer, url, oidc.resource),
  });
}
