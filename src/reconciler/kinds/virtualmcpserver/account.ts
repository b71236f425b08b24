// Renders the service account of a VirtualMCPServer's pods, with its rights.

import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { accountWithRights } from '../generated.ts';
import type { KindSettings } from '../kind.ts';
import { workloadLabels } from '../labels.ts';
import { pullSecretNames } from '../pods/pull-secrets.ts';
import { backendsReportRights } from '../tools-lock.ts';
import { type VirtualServer, virtualServerChildNames } from './facts.ts';

/**
 * Grants the rights to report the health of backends and differences from tools locks. If the manifest names an
 * account, skep renders no account and no rights.
 */
export function reportingAccount(
  { name, namespace, spec }: VirtualServer,
  { backends }: VmcpConfig,
  { apiGroup, pullSecrets }: KindSettings,
): readonly KubeObject[] {
  if (spec.serviceAccount !== undefined) return [];
  const labels = workloadLabels('virtualmcpserver', name);
  const place = { name: virtualServerChildNames(name).account, namespace, labels };
  return accountWithRights(place, pullSecretNames(spec.imagePullSecrets, pullSecrets), [
    { apiGroups: [apiGroup], resources: ['virtualmcpservers'], resourceNames: [name], verbs: ['get'] },
    {
      apiGroups: [apiGroup],
      resources: ['virtualmcpservers/status'],
      resourceNames: [name],
      verbs: ['get', 'update', 'patch'],
    },
    ...backendsReportRights(name, backends),
  ]);
}
