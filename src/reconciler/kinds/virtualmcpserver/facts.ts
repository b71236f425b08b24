// Computes values from a VirtualMCPServer's spec that several files need: names, the URL, effective settings, members
// of the group.

import { virtualReportName } from '#contracts/tool-lock/report.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { referredName } from '../aliases.ts';
import type { TokenSource } from '../auth/token-settings.ts';
import type { Typed } from '../define.ts';
import type { ObjectName, View } from '../kind.ts';
import { made } from '../made.ts';
import type { VirtualMCPServerSpec } from './schema.ts';

export type VirtualServer = Typed<typeof VirtualMCPServerSpec>;
export type Spec = Static<typeof VirtualMCPServerSpec>;

export const PORT = 4483;

export const HMAC_KEY = 'hmac-secret';

export function virtualServerChildNames(name: string) {
  return {
    deployment: name,
    service: `vmcp-${name}`,
    account: `${name}-vmcp`,
    config: `${name}-vmcp-config`,
    hmac: `${name}-hmac-secret`,
  };
}

/** Returns all objects that the server may own. */
export function makes({ name, spec }: VirtualServer): readonly ObjectName[] {
  const names = virtualServerChildNames(name);
  const accounts = spec.serviceAccount === undefined ? [names.account] : [];
  return made({
    ConfigMap: [names.config, virtualReportName(name)],
    Secret: [names.hmac],
    Service: [names.service],
    PodDisruptionBudget: [names.service],
    ServiceAccount: accounts,
    Deployment: [names.deployment],
    Role: accounts,
    RoleBinding: accounts,
  });
}

/** Returns `status.url`: the URL of the server inside the cluster, without a path. */
export function originOf({ name, namespace }: VirtualServer): string {
  return `http://${virtualServerChildNames(name).service}.${namespace}.svc.cluster.local:${PORT}`;
}

/** Returns the base URL of an EmbeddingServer. The Service has the name of the EmbeddingServer. */
export function originOfEmbeddings(name: string, namespace: string, view: View): string {
  const spec = view.find('EmbeddingServer', name)?.spec;
  const port = isObject(spec) && typeof spec.port === 'number' ? spec.port : 8080;
  return `http://${name}.${namespace}.svc.cluster.local:${port}`;
}

/** Returns the settings for accepted tokens; an empty object if the server accepts everyone. */
export function tokenSourceOf({ incomingAuth }: Spec): TokenSource {
  return incomingAuth.type === 'oidc' ? { ...incomingAuth, isRequired: true } : {};
}

/**
 * Returns the source of authentication settings for backends. `spec.outgoingAuth` takes precedence over `spec.config`.
 */
export function outgoingSource({ outgoingAuth, config }: Spec): 'discovered' | 'inline' {
  return outgoingAuth?.source ?? config.outgoingAuth?.source ?? 'discovered';
}

/** Kinds whose objects can be members of a group. */
const MEMBER_KINDS = ['MCPServer', 'MCPRemoteProxy', 'MCPServerEntry'] as const;

/**
 * Returns the members of a group by name. If several members have the same name, only the member whose kind is first in
 * `MEMBER_KINDS` is returned.
 */
export function membersOf(view: View, group: string): ReadonlyMap<string, KubeObject> {
  return new Map(
    allMembers(view, group)
      .toReversed()
      .map((member) => [member.metadata.name, member]),
  );
}

/** Returns the members that are left out because a member of another kind has the same name. */
export function shadowedMembers(
  view: View,
  group: string,
): readonly { readonly member: KubeObject; readonly by: KubeObject }[] {
  const members = membersOf(view, group);
  return allMembers(view, group).flatMap((member) => {
    const by = members.get(member.metadata.name);
    return by === undefined || by === member ? [] : [{ member, by }];
  });
}

function allMembers(view: View, group: string): readonly KubeObject[] {
  return MEMBER_KINDS.flatMap((kind) => view.all(kind)).filter(({ spec }) => {
    return isObject(spec) && referredName(spec.groupRef) === group;
  });
}
