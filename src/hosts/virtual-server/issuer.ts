// Opens the authorization server of a virtual server, if the virtual server's configuration has one.

import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { type IssuerOptions, type OpenIssuer, openIssuer } from '../issuer.ts';

export interface VirtualIssuerOptions
  extends Pick<IssuerOptions, 'environment' | 'files' | 'outbound' | 'logger' | 'metrics' | 'injects'> {
  readonly config: VmcpConfig;
}

/** Returns undefined if the configuration has no authorization server. */
export async function openVirtualIssuer({ config, ...parts }: VirtualIssuerOptions): Promise<OpenIssuer | undefined> {
  const { authServer, incomingAuth } = config;
  if (authServer === undefined) return undefined;
  const { issuer: hostIssuer, audience = '' } = incomingAuth.oidc ?? {};
  return openIssuer({
    ...parts,
    ...{ config: authServer, hostIssuer, hostAudience: audience, trustForwarded: false },
  });
}
