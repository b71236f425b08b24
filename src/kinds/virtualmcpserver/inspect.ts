// What is wrong with the content of what a VirtualMCPServer names: settings in ConfigMaps, members of the group, workflows.
// Knows nothing about what follows from it.

import { isObject, pointerToken } from '../../std/json.ts';
import type { Finding, View } from '../kind.ts';
import { resolveOIDC } from '../shared/oidc-settings.ts';
import { configMapAuthzFindings } from '../shared/proxy-authz.ts';
import { definitionErrors } from '../virtualmcpcompositetooldefinition/errors.ts';
import { membersOf, originOf, type Spec, type VirtualServer } from './facts.ts';

export function inspect(self: VirtualServer, view: View): readonly Finding[] {
  const { spec } = self;
  return [
    ...oidcFindings(self, view),
    ...configMapAuthzFindings(spec.incomingAuth.authzConfig, view, '/spec/incomingAuth/authzConfig'),
    ...memberFindings(spec, view),
    ...workflowFindings(spec, view),
  ];
}

function oidcFindings(self: VirtualServer, view: View): readonly Finding[] {
  const { incomingAuth, authServerConfig } = self.spec;
  if (incomingAuth.oidcConfig === undefined) return [];
  const at = '/spec/incomingAuth/oidcConfig';
  const resolved = resolveOIDC(incomingAuth.oidcConfig, view, originOf(self), at);
  if ('findings' in resolved) return resolved.findings;
  const { issuer } = resolved.settings;
  // Of other types, CEL says it.
  if (incomingAuth.oidcConfig.type !== 'configMap') return [];
  if (authServerConfig === undefined || authServerConfig.issuer === issuer) return [];
  const message = `authServerConfig.issuer must be the issuer that incomingAuth.oidcConfig accepts: ${issuer}`;
  return [
    { code: 'auth-server-issuer-mismatch', severity: 'error', pointer: '/spec/authServerConfig/issuer', message },
  ];
}

/** A backend that is written down must be a member (document 3, StaticBackendConfig); others may come to be one. */
function memberFindings({ config, outgoingAuth }: Spec, view: View): readonly Finding[] {
  const { groupRef, aggregation, operational } = config;
  const members = membersOf(view, groupRef);
  const named = [
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
    ...keysOf(outgoingAuth?.backends, '/spec/outgoingAuth/backends'),
    ...keysOf(outgoingAuth === undefined ? config.outgoingAuth?.backends : {}, '/spec/config/outgoingAuth/backends'),
    ...keysOf(operational.timeouts.perWorkload, '/spec/config/operational/timeouts/perWorkload'),
  ];
  return named
    .filter(({ name }) => !members.has(name))
    .map(({ name, pointer, severity }) => {
      const message = `"${name}" is no member of MCPGroup ${groupRef}`;
      return { code: 'group-member-unknown', severity, pointer, message };
    });
}

const WARNING = 'warning' as const;

function keysOf(map: Readonly<Record<string, unknown>> | undefined, pointer: string) {
  return Object.keys(map ?? {}).map((name) => {
    return { name, pointer: `${pointer}/${pointerToken(name)}`, severity: WARNING };
  });
}

/** Workflows that are resources of their own may be invalid, or have names that are taken. */
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
