// Computes conditions that every resource with a proxy may have: about its group, the certificates of its issuer, and
// service account tokens.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import type { OIDCConfig } from '../auth/oidc.ts';
import { acceptedAccounts } from '../auth/oidc-settings.ts';
import type { TokenSource } from '../auth/token-settings.ts';
import type { ConditionResult } from '../conditions.ts';
import type { Observed, View } from '../kind.ts';

type OIDC = Static<typeof OIDCConfig>;
type CABundle = NonNullable<NonNullable<OIDC['inline']>['caBundleRef']>;

/**
 * Returns a condition that is True if the group exists, is not being deleted and has not failed. The group's own
 * condition Ready only means that its members were counted.
 */
export function groupConditions(groupRef: string | undefined, view: View): readonly ConditionResult[] {
  if (groupRef === undefined) return [];
  const type = 'GroupRefValidated';
  const group = view.find('MCPGroup', groupRef);
  if (group === undefined) {
    const message = `MCPGroup ${groupRef} does not exist in this namespace`;
    return [{ type, status: 'False', reason: 'GroupRefNotFound', message }];
  }
  if (group.metadata.deletionTimestamp !== undefined) {
    return [{ type, status: 'False', reason: 'GroupRefNotFound', message: 'Referenced MCPGroup is being deleted' }];
  }
  if (isObject(group.status) && group.status.phase === 'Failed') {
    return [{ type, status: 'False', reason: 'GroupRefNotReady', message: `MCPGroup ${groupRef} has failed` }];
  }
  return [{ type, status: 'True', reason: 'GroupRefIsValid', message: `MCPGroup ${groupRef} exists` }];
}

/** Returns a condition that says whether the certificates in an OIDCConfigRef exist. */
export function bundleConditions(oidc: OIDC | undefined, view: View): readonly ConditionResult[] {
  const { inline, configMap } = oidc ?? {};
  return caBundleConditions((inline ?? configMap)?.caBundleRef, view);
}

export function caBundleConditions(bundle: CABundle | undefined, view: View): readonly ConditionResult[] {
  const ref = bundle?.configMapRef;
  if (ref === undefined) return [];
  const type = 'CABundleRefValidated';
  const { name, key } = ref;
  const found = view.find('ConfigMap', name);
  if (found === undefined) {
    return [{ type, status: 'False', reason: 'CABundleRefNotFound', message: `ConfigMap ${name} does not exist` }];
  }
  if (!isObject(found.data) || found.data[key] === undefined) {
    return [{ type, status: 'False', reason: 'CABundleRefInvalid', message: `ConfigMap ${name} has no key ${key}` }];
  }
  return [{ type, status: 'True', reason: 'CABundleRefValid', message: `ConfigMap ${name} has the key ${key}` }];
}

/**
 * Returns a condition that says whether tokens of the cluster's service accounts are accepted. Returns an empty list if
 * the resource's settings are not for such tokens, or if the cluster's issuer was not requested.
 */
export function accountsConditions(source: TokenSource, { tokenIssuer, view }: Observed): readonly ConditionResult[] {
  const accepted = acceptedAccounts(source, view);
  if (accepted === undefined || tokenIssuer === undefined) return [];
  const type = 'ServiceAccountTokensAccepted';
  if ('fault' in tokenIssuer) {
    const remedy = `Let accounts read it and ${KEYS_PATH}: bind ClusterRole ${DISCOVERY_ROLE} to the group system:serviceaccounts`;
    const message = `tokens of service accounts cannot be verified: ${tokenIssuer.fault}. ${remedy}.`;
    return [{ type, status: 'False', reason: 'ClusterIssuerUnknown', message }];
  }
  const { issuer } = tokenIssuer;
  if (accepted.isApiServer || accepted.issuer === issuer) {
    return [
      { type, status: 'True', reason: 'ClusterIssuerAccepted', message: `tokens of the issuer ${issuer} are accepted` },
    ];
  }
  const remedy = 'Leave issuer and jwksUrl out to accept tokens of this cluster.';
  const message = `tokens of this cluster have the issuer ${issuer}, but only tokens of ${accepted.issuer} are accepted. ${remedy}`;
  return [{ type, status: 'False', reason: 'ClusterIssuerDiffers', message }];
}

const KEYS_PATH = '/openid/v1/jwks';
const DISCOVERY_ROLE = 'system:service-account-issuer-discovery';
