// Lists the Secrets and ConfigMaps that an embedded authorization server names. All Secrets are required, because the
// server does not start without them.

import type { Reference } from '../../kind.ts';
import { bundleReferences } from '../ca-bundle.ts';
import type { AuthServer } from './providers.ts';

export type SecretKeyName = { readonly name: string; readonly key: string };

export function authServerReferences(config: AuthServer | undefined, pointer: string): readonly Reference[] {
  if (config === undefined) return [];
  const redis = config.storage.redis;
  return [
    ...listed(config.signingKeySecretRefs, `${pointer}/signingKeySecretRefs`),
    ...listed(config.hmacSecretRefs, `${pointer}/hmacSecretRefs`),
    ...config.upstreamProviders.flatMap(({ oidcConfig, oauth2Config, caBundleRef }, index) => {
      const place = `${pointer}/upstreamProviders/${index}`;
      return [
        ...secretReference(oidcConfig?.clientSecretRef, `${place}/oidcConfig/clientSecretRef`),
        ...secretReference(oauth2Config?.clientSecretRef, `${place}/oauth2Config/clientSecretRef`),
        ...secretReference(
          oauth2Config?.dcrConfig?.initialAccessTokenRef,
          `${place}/oauth2Config/dcrConfig/initialAccessTokenRef`,
        ),
        ...bundleReferences(caBundleRef, `${place}/caBundleRef`),
      ];
    }),
    ...(config.delegateClients ?? []).flatMap(({ clientSecretRef }, index) => {
      return secretReference(clientSecretRef, `${pointer}/delegateClients/${index}/clientSecretRef`);
    }),
    ...secretReference(
      redis?.aclUserConfig.usernameSecretRef,
      `${pointer}/storage/redis/aclUserConfig/usernameSecretRef`,
    ),
    ...secretReference(
      redis?.aclUserConfig.passwordSecretRef,
      `${pointer}/storage/redis/aclUserConfig/passwordSecretRef`,
    ),
    ...secretReference(redis?.tls?.caCertSecretRef, `${pointer}/storage/redis/tls/caCertSecretRef`),
    ...secretReference(redis?.sentinelTls?.caCertSecretRef, `${pointer}/storage/redis/sentinelTls/caCertSecretRef`),
  ];
}

function listed(refs: readonly SecretKeyName[] | undefined, pointer: string): readonly Reference[] {
  return (refs ?? []).flatMap((ref, index) => secretReference(ref, `${pointer}/${index}`));
}

/** Returns a reference to one key of a Secret. The key is required. */
export function secretReference(ref: SecretKeyName | undefined, pointer: string): readonly Reference[] {
  return ref === undefined ? [] : [{ pointer, kind: 'Secret', name: ref.name, key: ref.key }];
}
