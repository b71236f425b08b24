// Lists the references of an MCPServer: its group, configurations of other kinds, ConfigMaps, Secrets. For a reference
// with `waited`, Kubernetes delays the start of a pod until the object exists.

import { authzReferences } from '../auth/authz-findings.ts';
import { oidcReferences } from '../auth/oidc-settings.ts';
import type { Reference } from '../kind.ts';
import { proxyReferences } from '../proxy/references.ts';
import { sessionReferences } from '../proxy/session-password.ts';
import { toolsLockReferences } from '../tools-lock.ts';
import type { Server } from './facts.ts';

export function references({ spec, resource }: Server): readonly Reference[] {
  const { authzConfig, permissionProfile } = spec;
  return [
    ...proxyReferences(spec),
    ...oidcReferences(spec.oidcConfig, '/spec/oidcConfig'),
    ...authzReferences(authzConfig),
    ...(permissionProfile?.type === 'configmap'
      ? [
          {
            pointer: '/spec/permissionProfile',
            kind: 'ConfigMap',
            name: permissionProfile.name,
            ...optionalKey(permissionProfile),
          },
        ]
      : []),
    ...toolsLockReferences(resource),
    ...waitedFor({ spec }),
  ];
}

function optionalKey({ key }: { readonly key?: string }): { readonly key?: string } {
  return key === undefined ? {} : { key };
}

/** Returns references that delay the start of pods until their objects exist. */
function waitedFor({ spec }: Pick<Server, 'spec'>): Reference[] {
  const optional = 'waited' as const;
  return [
    ...(spec.secrets ?? []).map(({ name, key }, index) => {
      return { pointer: `/spec/secrets/${index}`, kind: 'Secret', name, key, optional };
    }),
    ...sessionReferences(spec.sessionStorage),
  ];
}
