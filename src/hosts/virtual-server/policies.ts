// Compiles the policies in a virtual server's configuration.

import { type AuthzConfigFile, groupFields } from '#contracts/authz-config.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { type CompiledPolicies, compilePolicies } from '#gateway/gate/policy/compile.ts';
import type { Policies } from '#gateway/gate/policy/decide.ts';
import { primaryProvider } from '#gateway/gate/policy/primary-provider.ts';
import { readMemberAppUri } from '#gateway/virtual-server/catalogue/apps.ts';
import { Failure } from '#std/failure.ts';

type Authz = VmcpConfig['incomingAuth']['authz'];

/** Throws Failure `policy-file-invalid` with all faults. */
export function checkPolicies(config: VmcpConfig): void {
  policiesOf(readAuthz(config));
}

/**
 * Returns the authorization settings with the upstream provider whose token contains the claims that policies read.
 * Throws Failure `policy-file-invalid`.
 */
export function readAuthz({ incomingAuth: { authz }, authServer }: VmcpConfig): Authz {
  if (authz.type === 'none') return authz;
  const primary = primaryProvider(authz.primaryUpstreamProvider, authServer);
  if (primary.fault === undefined) return { ...authz, primaryUpstreamProvider: primary.provider };
  throw new Failure('policy-file-invalid', `/incomingAuth/authz/primaryUpstreamProvider: ${primary.fault}`);
}

export function policiesOf(authz: Authz): Policies | undefined {
  return authz.type === 'none' ? undefined : decideOwnUris(usable(compilePolicies(policyFileOf(authz))));
}

/**
 * Returns policies that receive the URI that a member itself uses for a user interface. Clients see another URI,
 * because several members may use the same URI.
 */
function decideOwnUris(policies: Policies): Policies {
  return {
    ...policies,
    decide(request) {
      const own = request.action === 'read_resource' ? readMemberAppUri(request.name)?.own : undefined;
      return policies.decide(own === undefined ? request : { ...request, name: own });
    },
  };
}

export function policyFileOf({ policies = [], entitiesJson, ...more }: Authz): AuthzConfigFile {
  const { primaryUpstreamProvider: primary_upstream_provider, ...groups } = more;
  const cedar = {
    policies: [...policies],
    entities_json: entitiesJson,
    primary_upstream_provider,
    ...groupFields(groups),
  };
  return { version: '1.0', type: 'cedarv1', cedar };
}

/** Throws Failure `policy-file-invalid` if the policies have faults. */
export function usable(compiled: CompiledPolicies): Policies {
  if (compiled.ok) return compiled.policies;
  const words = compiled.faults.map(({ message }) => message).join('; ');
  throw new Failure('policy-file-invalid', `/incomingAuth/authz/policies: ${words}`);
}
