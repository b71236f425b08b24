// The configuration of a virtual server as it has to be on this machine: clients reach it through the URL beside the
// catalogue. Where its members are has been put in before. Knows nothing about processes.

import { formatVmcpConfig, readVmcpConfig, VMCP_CONFIG_FILE } from '../../contracts/vmcp-config.ts';
import { relocateAuthServer } from './local-auth-server.ts';

/** Undefined: the file is another one, or cannot be read, which the server reports itself. */
export function relocateVmcpConfig(file: string, text: string, urlOf: (server: string) => string): string | undefined {
  const read = file === VMCP_CONFIG_FILE ? readVmcpConfig(text) : undefined;
  if (read === undefined || 'fault' in read) return undefined;
  const { incomingAuth, authServer, ...others } = read.config;
  const { oidc } = incomingAuth;
  if (oidc === undefined) return formatVmcpConfig(read.config);
  const url = urlOf(read.config.name);
  const issuer = authServer === undefined ? {} : { issuer: url };
  return formatVmcpConfig({
    ...others,
    incomingAuth: { ...incomingAuth, oidc: { ...oidc, ...issuer, resource: url } },
    authServer: authServer && relocateAuthServer(authServer, url, oidc.resource),
  });
}
