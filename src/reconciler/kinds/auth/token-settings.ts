// Finds the settings by which a resource accepts tokens: its own, or those of the MCPOIDCConfig that it names.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { specReader } from '../aliases.ts';
import type { View } from '../kind.ts';
import { type OIDCConfig, type OIDCConfigRef, SharedOIDC } from './oidc.ts';

/** The fields of a resource that say whose tokens it accepts. Without both, anyone may call, unless tokens are required. */
export interface TokenSource {
  /** The resource is not for everyone. CEL asks for one of the fields then, but the object may be older than that rule. */
  readonly isRequired?: boolean;
  readonly oidcConfig?: Static<typeof OIDCConfig>;
  readonly oidcConfigRef?: Static<typeof OIDCConfigRef>;
}

/** Settings in the form of `oidcConfig`; of a cluster, too, the scopes to advertise may be chosen. */
export type TokenSettings = Static<typeof OIDCConfig> & { readonly scopes?: readonly string[] };

const read = specReader(SharedOIDC);

/** Undefined if the resource names no settings. A fault if settings are named or required and do not exist: nobody may be let in then. */
export function tokenSettings(
  { isRequired, oidcConfig, oidcConfigRef: ref }: TokenSource,
  view: View,
): TokenSettings | { readonly fault: string } | undefined {
  if (ref === undefined) {
    const fault = 'neither oidcConfig nor oidcConfigRef says whose tokens are accepted, and tokens are required';
    return oidcConfig ?? (isRequired === true ? { fault } : undefined);
  }
  const spec = view.find('MCPOIDCConfig', ref.name)?.spec;
  if (!isObject(spec)) return { fault: `MCPOIDCConfig ${ref.name} does not exist` };
  return combined(read(spec), ref);
}

/** The provider is in the MCPOIDCConfig, and the audience in the reference. */
function combined(
  shared: Static<typeof SharedOIDC>,
  ref: Static<typeof OIDCConfigRef>,
): ReturnType<typeof tokenSettings> {
  const { inline, kubernetesServiceAccount } = shared;
  const { audience, scopes = [], resourceUrl } = ref;
  const place = resourceUrl === undefined ? {} : { resourceUrl };
  // The object may be older than its definition, which an API server has not checked then.
  if (shared.type === 'inline' && inline !== undefined) {
    return { type: 'inline', ...place, inline: { ...inline, audience, scopes } };
  }
  if (shared.type === 'kubernetesServiceAccount' && kubernetesServiceAccount !== undefined) {
    return { type: 'kubernetes', ...place, scopes, kubernetes: { ...kubernetesServiceAccount, audience } };
  }
  return { fault: `MCPOIDCConfig ${ref.name} has no settings of type ${shared.type}` };
}
