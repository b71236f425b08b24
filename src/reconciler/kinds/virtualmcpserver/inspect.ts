// Finds mistakes in the objects that a VirtualMCPServer references: settings in ConfigMaps, members of the group,
// workflows.

import { isObject, pointerToken } from '#std/json.ts';
import { namedAuthzFindings } from '../auth/authz-findings.ts';
import { namedOIDCFindings } from '../auth/oidc-findings.ts';
import { ANY_OWNER, resolveOIDC } from '../auth/oidc-settings.ts';
import { primaryProviderFindings } from '../auth/server/primary.ts';
import { baselineScopeFindings } from '../auth/server/scopes.ts';
import { authServerSecretFindings } from '../auth/server/secrets.ts';
import { acceptedAudiences, trustHostFindings } from '../auth/server/trust-rules.ts';
import type { Finding, View } from '../kind.ts';
import { namedTelemetryFindings } from '../proxy/telemetry-settings.ts';
import { toolConfigFindings } from '../proxy/tools.ts';
import { definitionErrors } from '../virtualmcpcompositetooldefinition/errors.ts';
import { backendsOf } from './backends.ts';
import { membersOf, type Spec, shadowedMembers, tokenSourceOf, type VirtualServer } from './facts.ts';
import { needsLogin, strategyOf, withKnownProvider } from './strategies.ts';

const INCOMING = '/spec/incomingAuth';
const AUTH_SERVER = '/spec/authServerConfig';

export function inspect(self: VirtualServer, view: View): readonly Finding[] {
  const { incomingAuth, authServerConfig, config } = self.spec;
  return [
    ...namedOIDCFindings({ ...incomingAuth, ...tokenSourceOf(self.spec) }, view, INCOMING),
    ...namedAuthzFindings(incomingAuth, view, INCOMING),
    ...primaryProviderFindings({ authz: incomingAuth, server: authServerConfig, at: INCOMING }, view),
    ...issuerFindings(self, view),
    ...hostFindings(self, view),
    ...(authServerConfig === undefined ? [] : authServerSecretFindings(authServerConfig, AUTH_SERVER, view)),
    ...namedTelemetryFindings(self.spec, view),
    ...memberFindings(self.spec, view),
    ...backendAuthFindings(self.spec, view),
    ...shadowFindings(self.spec, view),
    ...(config.aggregation.tools ?? []).flatMap(({ toolConfigRef }, index) => {
      return toolConfigFindings(toolConfigRef, view, `/spec/config/aggregation/tools/${index}/toolConfigRef/name`);
    }),
    ...workflowFindings(self.spec, view),
  ];
}

/** Checks only settings in other objects, because CEL checks settings in the resource itself. */
function issuerFindings(self: VirtualServer, view: View): readonly Finding[] {
  const { incomingAuth, authServerConfig } = self.spec;
  const { oidcConfig, oidcConfigRef } = incomingAuth;
  if (authServerConfig === undefined || (oidcConfigRef === undefined && oidcConfig?.configMap === undefined)) return [];
  const resolved = resolveOIDC(incomingAuth, view, ANY_OWNER, INCOMING);
  if (resolved === undefined || 'findings' in resolved) return [];
  const { issuer } = resolved.settings;
  if (issuer === authServerConfig.issuer) return [];
  const field = oidcConfigRef === undefined ? 'oidcConfig' : 'oidcConfigRef';
  const message = `authServerConfig.issuer must be the issuer that incomingAuth.${field} accepts: ${issuer}`;
  return [{ code: 'auth-server-issuer', severity: 'error', pointer: `${AUTH_SERVER}/issuer`, message }];
}

function hostFindings({ spec }: VirtualServer, view: View): readonly Finding[] {
  const { incomingAuth, authServerConfig } = spec;
  const resolved = authServerConfig && resolveOIDC(incomingAuth, view, ANY_OWNER, INCOMING);
  if (authServerConfig === undefined || resolved === undefined || 'findings' in resolved) return [];
  const { scopes } = resolved.settings;
  const host = {
    scopes,
    audiences: acceptedAudiences(resolved.settings),
    needsLogin: backendsOf(spec, view).some(({ auth }) => 'strategy' in auth && needsLogin(auth.strategy)),
  };
  return [
    ...baselineScopeFindings(authServerConfig, scopes, `${AUTH_SERVER}/baselineClientScopes`),
    ...trustHostFindings(authServerConfig, host, AUTH_SERVER),
  ];
}

/**
 * Finds authentication settings that cannot be used. A member with unusable settings is left out, with a warning. A
 * missing Secret of a member is reported only in the statuses of the member and the server.
 */
function backendAuthFindings(spec: Spec, view: View): readonly Finding[] {
  const { outgoingAuth } = spec;
  const code = 'backend-auth-unusable';
  const pointer = '/spec/outgoingAuth';
  const named = [
    { at: `${pointer}/default`, ref: outgoingAuth?.default?.externalAuthConfigRef },
    ...Object.entries(outgoingAuth?.backends ?? {}).map(([backend, { externalAuthConfigRef: ref }]) => {
      return { at: `${pointer}/backends/${pointerToken(backend)}`, ref };
    }),
  ];
  const written = named.flatMap(({ at, ref }): readonly Finding[] => {
    const converted = ref && withKnownProvider(strategyOf(ref.name, view), spec.authServerConfig);
    if (converted === undefined || !('fault' in converted)) return [];
    return [{ code, severity: 'error', pointer: `${at}/externalAuthConfigRef/name`, message: converted.fault }];
  });
  const found = backendsOf(spec, view).flatMap(({ name, by, auth, member }): readonly Finding[] => {
    const isEntry = member?.kind === 'MCPServerEntry';
    if ('fault' in auth && auth.field !== undefined) {
      const index = spec.config.backends?.findIndex((backend) => backend.name === name);
      const at = `/spec/config/backends/${index}/${auth.field}`;
      return [{ code: 'group-member-unusable', severity: 'error', pointer: at, message: auth.fault }];
    }
    if (!('fault' in auth) || auth.isAbsence === true || (by !== 'discovered' && !isEntry)) return [];
    const message = `${name} is left out: ${auth.fault}`;
    const why = isEntry ? 'group-member-unusable' : code;
    return [{ code: why, severity: 'warning', pointer: '/spec/config/groupRef', message }];
  });
  return [...written, ...found];
}

/**
 * Finds members that are left out because a member of another kind has the same name: backends are named after members.
 */
function shadowFindings({ config }: Spec, view: View): readonly Finding[] {
  return shadowedMembers(view, config.groupRef).map(({ member, by }) => {
    const { name } = member.metadata;
    const message = `${member.kind} ${name} is left out: ${by.kind} ${name} is in the group, and has the same name. Rename one of them.`;
    return { code: 'group-member-unusable', severity: 'warning', pointer: '/spec/config/groupRef', message };
  });
}

/**
 * Finds names that are not members of the group. A listed backend without a member is an error. Other names cause a
 * warning, because such members may be created later.
 */
function memberFindings({ config, outgoingAuth }: Spec, view: View): readonly Finding[] {
  const { groupRef, aggregation, operational } = config;
  const members = membersOf(view, groupRef);
  const named: readonly NameUse[] = [
    ...(config.backends ?? []).map(({ name }, index) => {
      return { name, pointer: `/spec/config/backends/${index}/name`, severity: 'error' as const };
    }),
    ...(aggregation.tools ?? []).map(({ workload }, index) => {
      return { name: workload, pointer: `/spec/config/aggregation/tools/${index}/workload`, severity: WARNING };
    }),
    ...(aggregation.conflictResolutionConfig.priorityOrder ?? []).map((name, index) => {
      const pointer = `/spec/config/aggregation/conflictResolutionConfig/priorityOrder/${index}`;
      return { name, pointer, severity: WARNING };
    }),
    ...namesWithPointers(outgoingAuth?.backends, '/spec/outgoingAuth/backends'),
    ...namesWithPointers(
      outgoingAuth === undefined ? config.outgoingAuth?.backends : {},
      '/spec/config/outgoingAuth/backends',
    ),
    ...namesWithPointers(operational.timeouts.perWorkload, '/spec/config/operational/timeouts/perWorkload'),
    ...(config.compositeTools ?? []).flatMap(({ steps }, index) => {
      return workloadsOf(steps).map(({ name, at }) => {
        return { name, pointer: `/spec/config/compositeTools/${index}/steps${at}`, severity: WARNING };
      });
    }),
    ...(config.compositeToolRefs ?? []).flatMap((ref, index) => {
      const definition = view.find('VirtualMCPCompositeToolDefinition', ref.name);
      const steps = isObject(definition?.spec) ? definition.spec.steps : [];
      const pointer = `/spec/config/compositeToolRefs/${index}/name`;
      const names = new Set(workloadsOf(steps).map(({ name }) => name));
      return [...names].map((name) => ({ name, pointer, severity: WARNING, by: 'its workflow calls a tool of ' }));
    }),
  ];
  return named
    .filter(({ name }) => !members.has(name))
    .map(({ name, pointer, severity, by }) => {
      const message =
        by === undefined
          ? `"${name}" is not a member of MCPGroup ${groupRef}`
          : `${by}"${name}", which is not a member of MCPGroup ${groupRef}`;
      return { code: 'group-member-unknown', severity, pointer, message };
    });
}

const WARNING = 'warning' as const;

interface NameUse {
  readonly name: string;
  readonly pointer: string;
  readonly severity: 'error' | 'warning';
  /**
   * Beginning of the message if another object contains the name. Not set if the virtual server itself contains the
   * name.
   */
  readonly by?: string;
}

/** Returns the workloads that steps name with `workload.tool`. A tool name without a dot names no workload. */
function workloadsOf(steps: unknown): readonly { readonly name: string; readonly at: string }[] {
  return (Array.isArray(steps) ? steps : []).flatMap((step: unknown, index) => {
    const inner = isObject(step) ? step.step : undefined;
    return [
      { tool: isObject(step) ? step.tool : undefined, at: `/${index}/tool` },
      { tool: isObject(inner) ? inner.tool : undefined, at: `/${index}/step/tool` },
    ].flatMap(({ tool, at }) => {
      const dot = typeof tool === 'string' ? tool.indexOf('.') : -1;
      return typeof tool === 'string' && dot > 0 ? [{ name: tool.slice(0, dot), at }] : [];
    });
  });
}

function namesWithPointers(map: Readonly<Record<string, unknown>> | undefined, pointer: string) {
  return Object.keys(map ?? {}).map((name) => {
    return { name, pointer: `${pointer}/${pointerToken(name)}`, severity: WARNING };
  });
}

/** Finds invalid workflows in other resources, and workflows whose names are already taken. */
function workflowFindings({ config }: Spec, view: View): readonly Finding[] {
  const taken = new Map((config.compositeTools ?? []).map(({ name }) => [name, 'compositeTools']));
  return (config.compositeToolRefs ?? []).flatMap((ref, index): readonly Finding[] => {
    const pointer = `/spec/config/compositeToolRefs/${index}/name`;
    const definition = view.find('VirtualMCPCompositeToolDefinition', ref.name);
    const tool = isObject(definition?.spec) ? String(definition.spec.name) : ref.name;
    const [fault, ...more] = definition === undefined ? [] : definitionErrors(definition);
    if (fault !== undefined) {
      const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
      const message = `the workflow of ${ref.name} is not valid: ${fault}${others}`;
      return [{ code: 'composite-tool-invalid', severity: 'error', pointer, message }];
    }
    const other = taken.get(tool);
    if (other === undefined) {
      taken.set(tool, ref.name);
      return [];
    }
    const message = `${ref.name} defines a tool named "${tool}", and so does ${other}`;
    return [{ code: 'composite-tool-name-taken', severity: 'error', pointer, message }];
  });
}
