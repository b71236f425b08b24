// Says what clients meet at a proxy: the accepted tokens, and the tools that it lets through with their names.

import type { Shown } from '#contracts/virtual-model/tools.ts';
import type { Static } from '#std/schema.ts';
import type { OIDCConfig } from '../auth/oidc.ts';
import { ANY_OWNER, resolveOIDC } from '../auth/oidc-settings.ts';
import type { EndpointAuth, View } from '../kind.ts';
import { selectedTools, shownOverrides } from './tools.ts';

/** Without settings anyone may call. `namespace` is that of the resource. */
export function endpointAuth(oidc: Static<typeof OIDCConfig> | undefined, view: View, namespace: string): EndpointAuth {
  if (oidc === undefined) return { type: 'anonymous' };
  const resolved = resolveOIDC(oidc, view, { ...ANY_OWNER, namespace });
  if ('findings' in resolved) return { type: 'unknown' };
  const { issuer, audience, service_account: account } = resolved.settings;
  return { type: 'oidc', issuer, audience, account: account && `${account.namespace}/${account.name ?? '*'}` };
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
