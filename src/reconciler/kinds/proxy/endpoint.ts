// What clients meet at a proxy: whose tokens it accepts, which tools it lets through and what it calls them. Knows nothing
// about whose proxy it is, and nothing about the tools there are.

import type { Shown } from '#contracts/virtual-model/tools.ts';
import type { Static } from '#std/schema.ts';
import type { OIDCConfig } from '../auth/oidc.ts';
import { resolveOIDC } from '../auth/oidc-settings.ts';
import type { EndpointAuth, View } from '../kind.ts';
import { selectedTools, shownOverrides } from './tools.ts';

/** Without settings anyone may call. */
export function endpointAuth(oidc: Static<typeof OIDCConfig> | undefined, view: View): EndpointAuth {
  if (oidc === undefined) return { type: 'anonymous' };
  const resolved = resolveOIDC(oidc, view, '');
  if ('findings' in resolved) return { type: 'unknown' };
  const { issuer, audience } = resolved.settings;
  return { type: 'oidc', issuer, audience };
}

/** What an MCPToolConfig says; `own` counts where none is named. */
export function shownBy(ref: { readonly name: string } | undefined, own: Selected, view: View): Shown {
  const { filter, overrides } = ref === undefined ? own : selectedTools(ref, view);
  const names = Object.entries(shownOverrides(overrides) ?? {}).flatMap(([tool, { name }]) =>
    name === undefined ? [] : [[tool, name] as const],
  );
  return { filter: filter.filter((name) => name !== ''), names: Object.fromEntries(names) };
}

type Selected = ReturnType<typeof selectedTools>;
