// Lists the references of a VirtualMCPServer: its group, workflows, configurations of other kinds, ConfigMaps, Secrets.
// For a reference with `waited`, Kubernetes delays the start of a pod until the object exists.

import { pointerToken } from '#std/json.ts';
import { authzReferences } from '../auth/authz-findings.ts';
import { oidcReferences } from '../auth/oidc-settings.ts';
import { authServerReferences } from '../auth/server/references.ts';
import type { Reference } from '../kind.ts';
import { pullSecretReferences } from '../pods/pull-secrets.ts';
import { sessionReferences } from '../proxy/session-password.ts';
import { settingsReferences } from '../shared-settings.ts';
import type { Spec, VirtualServer } from './facts.ts';

export function references({ spec }: VirtualServer): readonly Reference[] {
  const { config, incomingAuth, embeddingServerRef } = spec;
  return [
    { pointer: '/spec/config/groupRef', kind: 'MCPGroup', name: config.groupRef },
    ...(config.compositeToolRefs ?? []).map(({ name }, index) => {
      const pointer = `/spec/config/compositeToolRefs/${index}/name`;
      return { pointer, kind: 'VirtualMCPCompositeToolDefinition', name };
    }),
    ...(config.aggregation.tools ?? []).flatMap(({ toolConfigRef }, index) => {
      return referenceTo('MCPToolConfig', `/spec/config/aggregation/tools/${index}/toolConfigRef/name`, toolConfigRef);
    }),
    ...referenceTo('EmbeddingServer', '/spec/embeddingServerRef/name', embeddingServerRef),
    ...backendAuthReferences(spec),
    ...settingsReferences(incomingAuth, '/spec/incomingAuth'),
    ...settingsReferences(spec),
    ...oidcReferences(incomingAuth.oidcConfig, '/spec/incomingAuth/oidcConfig'),
    ...authzReferences(incomingAuth.authzConfig, '/spec/incomingAuth/authzConfig'),
    ...authServerReferences(spec.authServerConfig, '/spec/authServerConfig'),
    ...waitedFor(spec),
  ];
}

function referenceTo(kind: string, pointer: string, ref: { readonly name: string } | undefined): Reference[] {
  return ref === undefined ? [] : [{ pointer, kind, name: ref.name }];
}

function backendAuthReferences({ outgoingAuth }: Spec): readonly Reference[] {
  const pointer = '/spec/outgoingAuth';
  const kind = 'MCPExternalAuthConfig';
  return [
    ...referenceTo(kind, `${pointer}/default/externalAuthConfigRef/name`, outgoingAuth?.default?.externalAuthConfigRef),
    ...Object.entries(outgoingAuth?.backends ?? {}).flatMap(([backend, { externalAuthConfigRef }]) => {
      return referenceTo(
        kind,
        `${pointer}/backends/${pointerToken(backend)}/externalAuthConfigRef/name`,
        externalAuthConfigRef,
      );
    }),
  ];
}

/** Returns references that delay the start of pods until their objects exist. */
function waitedFor({ serviceAccount, sessionStorage, imagePullSecrets }: Spec): readonly Reference[] {
  return [
    ...(serviceAccount === undefined
      ? []
      : [
          {
            pointer: '/spec/serviceAccount',
            kind: 'ServiceAccount',
            name: serviceAccount,
            optional: 'waited' as const,
          },
        ]),
    ...sessionReferences(sessionStorage),
    ...pullSecretReferences(imagePullSecrets, '/spec/imagePullSecrets'),
  ];
}
