// Checks the name of the upstream provider whose token the policies read.

import type { Finding, View } from '../../kind.ts';
import { type AuthzSource, hasPolicies, namedProvider } from '../authz-settings.ts';
import { type AuthServer, providerFault } from './providers.ts';

interface PolicyHost {
  readonly authz: AuthzSource;
  /** Authorization server of the resource, if it has one. */
  readonly server: AuthServer | undefined;
  /** Pointer of the object with the fields of `authz`. */
  readonly at: string;
}

/**
 * Checks that the authorization server has the provider whose token the policies read. The policies would otherwise
 * decide without the token.
 */
export function primaryProviderFindings({ authz, server, at }: PolicyHost, view: View): readonly Finding[] {
  const named = namedProvider(authz, view);
  if (named === undefined) return [];
  const pointer = at + providerPlace(authz);
  const own = server?.primaryUpstreamProvider;
  if (own !== undefined && own !== named) {
    const message = `policies are to read the token of ${named}, and primaryUpstreamProvider of the authorization server is ${own}`;
    return [{ code: 'auth-server-conflict', severity: 'error', pointer, message }];
  }
  const fault = providerFault(named, server);
  if (fault === undefined) return [];
  const message = `policies are to read the token of an upstream provider, and the authorization server ${fault}`;
  return [{ code: 'upstream-provider-unknown', severity: 'error', pointer, message }];
}

function providerPlace({ authzConfig, authzConfigRef }: AuthzSource): string {
  if (authzConfigRef !== undefined) return '/authzConfigRef/name';
  return authzConfig?.inline === undefined ? '/authzConfig/configMap' : '/authzConfig/inline/primaryUpstreamProvider';
}

/** Returns whether the server names a provider for policies although the resource has no policies. */
export function isIdleProvider(authz: AuthzSource, server: AuthServer | undefined): boolean {
  return server?.primaryUpstreamProvider !== undefined && !hasPolicies(authz);
}
