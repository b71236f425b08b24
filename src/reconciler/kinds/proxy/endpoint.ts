// Describes a proxy for clients: the accepted tokens, and the offered tools with their names.

import type { ShownTools } from '#contracts/virtual-model/tools.ts';
import { ANY_OWNER, resolveOIDC } from '../auth/oidc-settings.ts';
import type { TokenSource } from '../auth/token-settings.ts';
import type { EndpointAuth, View } from '../kind.ts';
import { selectedTools, shownOverrides } from './tools.ts';

/**
 * Returns how clients authenticate. If the resource has no settings for tokens, anyone may call it. `namespace`:
 * namespace of the resource.
 */
export function endpointAuth(source: TokenSource, view: View, namespace: string): EndpointAuth {
  const resolved = resolveOIDC(source, view, { ...ANY_OWNER, namespace });
  if (resolved === undefined) return { type: 'anonymous' };
  if ('findings' in resolved) return { type: 'unknown' };
  const { issuer, audience, service_account: account } = resolved.settings;
  return { type: 'oidc', issuer, audience, account: account && `${account.namespace}/${account.name ?? '*'}` };
}

/** Returns the offered tools: from the MCPToolConfig, or `own` if the resource names none. */
export function shownBy(ref: { readonly name: string } | undefined, own: Selected, view: View): ShownTools {
  const { filter, overrides } = ref === undefined ? own : selectedTools(ref, view);
  const names = Object.entries(shownOverrides(overrides) ?? {}).flatMap(([tool, { name }]) =>
    name === undefined ? [] : [[tool, name] as const],
  );
  return { filter: filter.filter((name) => name !== ''), names: Object.fromEntries(names) };
}

type Selected = ReturnType<typeof selectedTools>;
