// What conditions say of things that every resource with a proxy may name: its group, the certificates of its issuer, and
// the digests of configurations in use.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import type { OIDCConfig } from '../auth/oidc.ts';
import { acceptedAccounts } from '../auth/oidc-settings.ts';
import type { Verdict } from '../conditions.ts';
import type { Finding, Observed, View } from '../kind.ts';

type OIDC = Static<typeof OIDCConfig>;

/** A group is as good as ready when it exists: its readiness only says that its members were counted. */
export function groupVerdict(groupRef: string | undefined, view: View): readonly Verdict[] {
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

/** Whether the certificates that an OIDCConfigRef names are there. */
export function bundleVerdict(oidc: OIDC | undefined, view: View): readonly Verdict[] {
  const { inline, configMap } = oidc ?? {};
  const ref = (inline ?? configMap)?.caBundleRef?.configMapRef;
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

/** Whether tokens of the cluster's service accounts can be accepted, of a resource that is to accept them. */
export function accountsVerdict(oidc: OIDC | undefined, { tokenIssuer }: Observed): readonly Verdict[] {
  const accepted = acceptedAccounts(oidc);
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
  const message = `tokens of this cluster have the issuer ${issuer}, and those of ${accepted.issuer} alone are accepted. ${remedy}`;
  return [{ type, status: 'False', reason: 'ClusterIssuerDiffers', message }];
}

const KEYS_PATH = '/openid/v1/jwks';
const DISCOVERY_ROLE = 'system:service-account-issuer-discovery';

/** Whether a configuration that is named is there and can be used: what was found wrong with it is at its place. */
export function referenceVerdict(
  what: 'ToolConfig' | 'ExternalAuthConfig',
  ref: { readonly name: string } | undefined,
  pointer: string,
  refusals: readonly Finding[],
): readonly Verdict[] {
  if (ref === undefined) return [];
  const type = `${what}Validated`;
  const refusal = refusals.find((finding) => finding.pointer.startsWith(pointer));
  if (refusal === undefined) {
    return [{ type, status: 'True', reason: `${what}Valid`, message: `MCP${what} ${ref.name} can be used` }];
  }
  const { code, message } = refusal;
  return [{ type, status: 'False', reason: missing(code, what) ?? REASONS.get(code) ?? `${what}Invalid`, message }];
}

/** Reasons that clients know. */
const REASONS: ReadonlyMap<string, string> = new Map([['auth-server-upstreams', 'MultiUpstreamNotSupported']]);

export function isReference(code: string): boolean {
  return code.startsWith('reference-');
}

/** The reason where another resource is not there, or no one knows. */
export function missing(code: string, what: string): string | undefined {
  if (code === 'reference-unknown') return `${what}FetchError`;
  return isReference(code) ? `${what}NotFound` : undefined;
}

interface ConfigRefs {
  readonly toolConfigRef?: { readonly name: string };
  readonly externalAuthConfigRef?: { readonly name: string };
}

/** `configHash` of what a resource names, copied so that clients see when it changed. */
export function configHashes({ toolConfigRef, externalAuthConfigRef }: ConfigRefs, view: View) {
  const tools = hashOf('MCPToolConfig', toolConfigRef, view);
  const auth = hashOf('MCPExternalAuthConfig', externalAuthConfigRef, view);
  return {
    toolConfigHash: tools,
    externalAuthConfigHash: auth,
  };
}

function hashOf(kind: string, ref: { readonly name: string } | undefined, view: View): string | undefined {
  const status = ref === undefined ? undefined : view.find(kind, ref.name)?.status;
  return isObject(status) && typeof status.configHash === 'string' ? status.configHash : undefined;
}
