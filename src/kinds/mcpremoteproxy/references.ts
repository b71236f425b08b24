// What an MCPRemoteProxy names: its group, configurations of other kinds, ConfigMaps, Secrets. Knows nothing about whether
// they exist. What Kubernetes itself waits for when it starts a pod is optional, but for the Secrets of headers:
// a condition says that one is missing (kinds.md 2.3).

import type { Reference } from '../kind.ts';
import { headerReferences } from '../shared/header-forward.ts';
import { oidcReferences } from '../shared/oidc-settings.ts';
import { authzReferences } from '../shared/proxy-authz.ts';
import { proxyReferences } from '../shared/proxy-references.ts';
import type { RemoteProxy } from './facts.ts';

export function references({ spec }: RemoteProxy): readonly Reference[] {
  return [
    ...proxyReferences(spec),
    ...oidcReferences(spec.oidcConfig, '/spec/oidcConfig'),
    ...authzReferences(spec.authzConfig),
    ...headerReferences(spec.headerForward, '/spec/headerForward'),
  ];
}
