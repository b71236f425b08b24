// Lists the references in fields that every resource with a proxy has: its group, configurations of other kinds, and
// objects for which Kubernetes delays pods.

import type { Static } from '#std/schema.ts';
import type { Reference } from '../kind.ts';
import { pullSecretReferences } from '../pods/pull-secrets.ts';
import { type SettingsRefs, settingsReferences } from '../shared-settings.ts';
import type { ResourceOverrides } from './overrides.ts';

interface ProxySpec extends SettingsRefs {
  readonly groupRef?: string;
  readonly serviceAccount?: string;
  readonly resourceOverrides?: Static<typeof ResourceOverrides>;
}

export function proxyReferences(spec: ProxySpec): readonly Reference[] {
  const { groupRef, serviceAccount, resourceOverrides } = spec;
  const optional = 'waited' as const;
  return [
    ...referenceTo('MCPGroup', '/spec/groupRef', groupRef),
    ...settingsReferences(spec),
    ...referenceTo('ServiceAccount', '/spec/serviceAccount', serviceAccount).map((account) => ({
      ...account,
      optional,
    })),
    ...pullSecretReferences(
      resourceOverrides?.proxyDeployment?.imagePullSecrets,
      '/spec/resourceOverrides/proxyDeployment/imagePullSecrets',
    ),
  ];
}

function referenceTo(kind: string, pointer: string, name: string | undefined): Reference[] {
  return name === undefined ? [] : [{ pointer, kind, name }];
}
