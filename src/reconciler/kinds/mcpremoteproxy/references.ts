// Lists the references of an MCPRemoteProxy: its group, configurations of other kinds, ConfigMaps, Secrets. For a
// reference with `waited`, Kubernetes delays the start of a pod until the object exists. Secrets of headers are
// required, because a condition reports a missing Secret.

import { authzReferences } from '../auth/authz-findings.ts';
import { headerReferences } from '../auth/header-forward.ts';
import { oidcReferences } from '../auth/oidc-settings.ts';
import type { Reference } from '../kind.ts';
import { proxyReferences } from '../proxy/references.ts';
import { sessionReferences } from '../proxy/session-password.ts';
import { toolsLockReferences } from '../tools-lock.ts';
import { proxyOf, type RemoteProxy, sharedSessions } from './facts.ts';

export function references(self: RemoteProxy): readonly Reference[] {
  const { spec, resource } = self;
  const { backendCA } = proxyOf(self).tuning;
  return [
    ...proxyReferences(spec),
    ...oidcReferences(spec.oidcConfig, '/spec/oidcConfig'),
    ...authzReferences(spec.authzConfig),
    ...headerReferences(spec.headerForward, '/spec/headerForward'),
    ...sessionReferences(sharedSessions(spec)),
    ...toolsLockReferences(resource),
    ...(backendCA === undefined
      ? []
      : [{ pointer: '/metadata/annotations/skep.dev~1backend-ca', kind: 'ConfigMap', ...backendCA }]),
  ];
}
