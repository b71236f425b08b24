// Adapts the configuration of an embedded authorization server to this machine: the issuer becomes the URL at which
// clients reach its server.

import type { AuthServerConfig } from '#contracts/auth-server/config.ts';

/** `url`: new URL of the resource that the authorization server protects. `before`: old URL of the resource. */
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
