// Renders the NetworkPolicy that limits the MCP server to the hosts that its permission profile allows.

import assert from 'node:assert/strict';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import type { View } from '../kind.ts';
import { backendLabels, backendSelector } from './children-backend.ts';
import { type Server, serverChildNames } from './facts.ts';
import { type Outbound, profileOf } from './permission-profile.ts';

/**
 * Returns no policy if the profile allows every host. NetworkPolicies are additive: a policy that allows every host
 * would override the restrictions of other policies in the namespace.
 */
export function egressPolicies(self: Server, view: View): readonly KubeObject[] {
  const profile = profileOf(self, view);
  assert(profile === undefined || !('fault' in profile), 'children are created only for inspected resources');
  if (profile === undefined || profile.outbound.all) return [];
  const { name, namespace } = self;
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: serverChildNames(name).egressPolicy, namespace, labels: backendLabels(self) },
      spec: {
        podSelector: { matchLabels: backendSelector(name) },
        policyTypes: ['Egress'],
        ...egress(profile.outbound),
      },
    },
  ];
}

/** Returns a policy's `egress`. Without `egress`, Kubernetes allows no destination. */
function egress({ networks, ports, names }: Exclude<Outbound, { all: true }>): JsonObject {
  const to = networks.map((cidr) => ({ ipBlock: { cidr } }));
  // Ports without hosts are open to every host. Ports for hosts that are only names are open to no host.
  if (to.length === 0 && (ports.length === 0 || names.length > 0)) return {};
  const limited = {
    to: to.length === 0 ? undefined : to,
    ports: ports.length === 0 ? undefined : ports.map((port) => ({ protocol: 'TCP', port })),
  };
  return { egress: to.length === 0 ? [limited, DNS] : [limited] };
}

/** Allows DNS: a profile with ports but no hosts allows hosts of any name, which the server must resolve. */
const DNS: JsonObject = {
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
  ],
  ports: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
};
