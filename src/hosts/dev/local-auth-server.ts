// The configuration of an embedded authorization server as it has to be on this machine: it is its own issuer at the URL of
// its server beside the catalogue.

import type { AuthServerConfig } from '#contracts/auth-server/config.ts';

/** `url` of the resource that it guards, which was another one before. */
export function relocateAuthServer(server: AuthServerConfig, url: string, before: string): AuthServerConfig {
  return {
    ...server,
    issuer: url,
    allowed_audiences: server.allowed_audiences.map((audience) => (audience === before ? url : audience)),
    upstreams: server.upstreams.map(({ oidc_config: oidc, oauth2_config: oauth2, ...upstream }) => ({
      ...upstream,
      ...(oidc && { oidc_config: { ...oidc, redirect_uri: `${url}/oauth/callback` } }),
      ...(oauth2 && { oauth2_config: { ...oauth2, redirect_uri: `${url}/oauth/callback` } }),
    })),
  };
}
