// Finds the settings for the tokens that a resource accepts: in the resource, or in the MCPOIDCConfig that it names.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { specReader } from '../aliases.ts';
import type { View } from '../kind.ts';
import { type OIDCConfig, type OIDCConfigRef, SharedOIDC } from './oidc.ts';

/**
 * Fields of a resource for accepted tokens. If neither field is set, anyone may call the resource, unless tokens are
 * required.
 */
export interface TokenSource {
  /**
   * True if tokens are required. A CEL rule then requires one of the fields, but the object may be older than the rule.
   */
  readonly isRequired?: boolean;
  readonly oidcConfig?: Static<typeof OIDCConfig>;
  readonly oidcConfigRef?: Static<typeof OIDCConfigRef>;
}

/** Settings in the form of `oidcConfig`. For type kubernetes, `scopes` are the scopes to advertise. */
export type TokenSettings = Static<typeof OIDCConfig> & { readonly scopes?: readonly string[] };

const read = specReader(SharedOIDC);

/**
 * Returns undefined if the resource names no settings and requires none. Returns a fault if required or named settings
 * do not exist: the caller must then refuse every request.
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

/** Combines the issuer in the MCPOIDCConfig with the audience in the reference. */
function combined(
  shared: Static<typeof SharedOIDC>,
  ref: Static<typeof OIDCConfigRef>,
): ReturnType<typeof tokenSettings> {
  const { inline, kubernetesServiceAccount } = shared;
  const { audience, scopes = [], resourceUrl } = ref;
  const place = resourceUrl === undefined ? {} : { resourceUrl };
  // The API server may have stored the object before it knew the current schema.
  if (shared.type === 'inline' && inline !== undefined) {
    return { type: 'inline', ...place, inline: { ...inline, audience, scopes } };
  }
  if (shared.type === 'kubernetesServiceAccount' && kubernetesServiceAccount !== undefined) {
    return { type: 'kubernetes', ...place, scopes, kubernetes: { ...kubernetesServiceAccount, audience } };
  }
  return { fault: `MCPOIDCConfig ${ref.name} has no settings of type ${shared.type}` };
}
