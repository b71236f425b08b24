// Finds the settings by which a resource accepts tokens: in the resource, or in the MCPOIDCConfig that it names.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { specReader } from '../aliases.ts';
import type { View } from '../kind.ts';
import { type OIDCConfig, type OIDCConfigRef, SharedOIDC } from './oidc.ts';

/**
 * The fields of a resource for accepted tokens. Without both fields, anyone may call, unless tokens are required.
 */
export interface TokenSource {
  /** Whether tokens are required. CEL demands one of the fields then, but the object may be older than that rule. */
  readonly isRequired?: boolean;
  readonly oidcConfig?: Static<typeof OIDCConfig>;
  readonly oidcConfigRef?: Static<typeof OIDCConfigRef>;
}

/** Settings in the form of `oidcConfig`. Settings of type kubernetes may also have scopes to advertise. */
export type TokenSettings = Static<typeof OIDCConfig> & { readonly scopes?: readonly string[] };

const read = specReader(SharedOIDC);

/**
 * Returns undefined if the resource names no settings, and a fault if settings are named or required and do not exist:
 * every caller must be refused then.
 */
export function tokenSettings(
  { isRequired, oidcConfig, oidcConfigRef: ref }: TokenSource,
  view: View,
): TokenSettings | { readonly fault: string } | undefined {
  if (ref === undefined) {
    const fault = 'neither oidcConfig nor oidcConfigRef defines the accepted tokens, and tokens are required';
    return oidcConfig ?? (isRequired === true ? { fault } : undefined);
  }
  const spec = view.find('MCPOIDCConfig', ref.name)?.spec;
  if (!isObject(spec)) return { fault: `MCPOIDCConfig ${ref.name} does not exist` };
  return combined(read(spec), ref);
}

/** Combines the provider of the MCPOIDCConfig with the audience of the reference. */
function combined(
  shared: Static<typeof SharedOIDC>,
  ref: Static<typeof OIDCConfigRef>,
): ReturnType<typeof tokenSettings> {
  const { inline, kubernetesServiceAccount } = shared;
  const { audience, scopes = [], resourceUrl } = ref;
  const place = resourceUrl === undefined ? {} : { resourceUrl };
  // The object may be older than its definition, so the API server may not have checked it.
  if (shared.type === 'inline' && inline !== undefined) {
    return { type: 'inline', ...place, inline: { ...inline, audience, scopes } };
  }
  if (shared.type === 'kubernetesServiceAccount' && kubernetesServiceAccount !== undefined) {
    return { type: 'kubernetes', ...place, scopes, kubernetes: { ...kubernetesServiceAccount, audience } };
  }
  return { fault: `MCPOIDCConfig ${ref.name} has no settings of type ${shared.type}` };
}
