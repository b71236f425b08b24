// Finds the settings that a virtual server needs from the objects that it references: accepted tokens, backends,
// telemetry.

import assert from 'node:assert/strict';
import { VMCP_ENV } from '#contracts/vmcp-config.ts';
import { type ResolvedOIDC, resolveOIDC } from '../auth/oidc-settings.ts';
import { type AuthServerParts, authServerParts } from '../auth/server/parts.ts';
import { authServerScopes } from '../auth/server/scopes.ts';
import type { View } from '../kind.ts';
import type { Env } from '../pods/pod.ts';
import type { SecretKey } from '../pods/secret-checksum.ts';
import { type TelemetrySettings, telemetrySettings } from '../proxy/telemetry-settings.ts';
import { backendsOf, callable } from './backends.ts';
import { originOf, tokenSourceOf, type VirtualServer } from './facts.ts';

export interface Needs {
  /** Settings for accepted tokens; undefined if the server accepts everyone. */
  readonly oidc: (ResolvedOIDC & { readonly secretEnv?: string }) | undefined;
  readonly authServer: AuthServerParts | undefined;
  readonly callable: ReturnType<typeof callable>;
  /** Settings of the MCPTelemetryConfig that the server names. */
  readonly telemetry: TelemetrySettings | undefined;
}

export function needsOf(self: VirtualServer, view: View): Needs {
  const resolved = resolvedOIDC(self, view);
  const authServer = resolved === undefined ? undefined : serverOf(self, resolved, view);
  // The resource advertises the scopes that its authorization server issues.
  const scopes = authServer?.config.scopes_supported;
  const oidc =
    resolved === undefined || scopes === undefined
      ? resolved
      : { ...resolved, settings: { ...resolved.settings, scopes } };
  return {
    oidc,
    authServer,
    callable: callable(backendsOf(self.spec, view)),
    telemetry: telemetrySettings(self.spec, view),
  };
}

function resolvedOIDC(self: VirtualServer, view: View): Needs['oidc'] {
  const owner = { namespace: self.namespace, origin: originOf(self) };
  const resolved = resolveOIDC(tokenSourceOf(self.spec), view, owner);
  if (resolved === undefined) return undefined;
  assert(!('findings' in resolved), 'children are created only for resources whose references were inspected');
  const name = VMCP_ENV.oidcClientSecret;
  const env = resolved.env.map((variable): Env => ({ ...variable, name }));
  return { ...resolved, env, secretEnv: env.length === 0 ? undefined : name };
}

function serverOf(
  { name, namespace, spec }: VirtualServer,
  { settings }: ResolvedOIDC,
  view: View,
): AuthServerParts | undefined {
  if (spec.authServerConfig === undefined) return undefined;
  const { audience, resource_url: resourceUrl } = settings;
  const host = { name, namespace, resourceUrl, audience, scopes: authServerScopes(settings.scopes) };
  return authServerParts(spec.authServerConfig, host, view);
}

/**
 * Returns the collector's headers whose values are in Secrets, with their variables. Returns an empty list if the
 * server sends no telemetry.
 */
export function collectorHeaderVariables(
  settings: TelemetrySettings | undefined,
): readonly { readonly header: string; readonly name: string; readonly secret: SecretKey }[] {
  const otel = settings?.openTelemetry;
  if (otel?.enabled !== true) return [];
  return otel.secretHeaders.map(({ name: header, secret }, index) => {
    return { header, secret, name: VMCP_ENV.telemetryHeader(index) };
  });
}
