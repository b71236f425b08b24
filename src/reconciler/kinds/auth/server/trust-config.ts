// Renders trusted issuers and delegate clients into the configuration of an embedded authorization server.

import { AUTH_SERVER_DIRECTORY, AUTH_SERVER_FILES, type AuthServerConfig } from '#contracts/auth-server/config.ts';
import type { AuthServer } from './providers.ts';

type Issuer = NonNullable<AuthServer['trustedIssuers']>[number];
type Rendered = Pick<AuthServerConfig, 'trusted_issuers' | 'delegate_clients'>;

/** Returns the configuration without empty lists. */
export function trustConfig({ trustedIssuers: issuers = [], delegateClients: clients = [] }: AuthServer): Rendered {
  return {
    trusted_issuers: issuers.length === 0 ? undefined : issuers.map(issuerConfig),
    delegate_clients:
      clients.length === 0
        ? undefined
        : clients.map(({ clientId, scopes, audiences }, index) => ({
            client_id: clientId,
            client_secret_file: `${AUTH_SERVER_DIRECTORY}/${AUTH_SERVER_FILES.delegateSecret(index)}`,
            scopes,
            audiences,
          })),
  };
}

function issuerConfig(issuer: Issuer): NonNullable<Rendered['trusted_issuers']>[number] {
  const { jwtBearerGrant: bearer } = issuer;
  return {
    issuer_url: issuer.issuerUrl,
    jwks_url: issuer.jwksUrl,
    insecure_allow_http: issuer.insecureAllowHTTP,
    allow_private_ips: issuer.allowPrivateIPs,
    expected_audience: issuer.expectedAudience,
    actor_claim: issuer.actorClaim || undefined,
    allowed_actors: issuer.allowedActors,
    actor_matcher: issuer.actorMatcher || undefined,
    allow_may_act: issuer.allowMayAct,
    allowed_delegate_clients: issuer.allowedDelegateClients,
    jwt_bearer_grant: bearer && {
      accepted_audiences: bearer.acceptedAudiences,
      max_assertion_age: bearer.maxAssertionAge,
      subject_bindings: bearer.subjectBindings.map(({ subject, allowedResources }) => {
        return { subject, allowed_resources: allowedResources };
      }),
    },
  };
}
