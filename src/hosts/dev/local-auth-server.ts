// Adapts the configuration of an embedded authorization server to this machine: its issuer is the URL of its server
// next to the catalogue.

import type { AuthServerConfig } from '#contracts/auth-server/config.ts';

/** `url` is the new URL of the resource that the server guards, `before` the old URL. */
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
