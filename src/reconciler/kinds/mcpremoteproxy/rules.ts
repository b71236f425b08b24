// Finds mistakes in an MCPRemoteProxy that neither its schema nor CEL can express: in the resource (rules), and in the
// objects that it references (inspect).

import { annotationFindings } from '../annotations.ts';
import { inlineAuthzFindings, namedAuthzFindings } from '../auth/authz-findings.ts';
import { externalAuthFindings, hasOwnIssuer } from '../auth/external-auth-findings.ts';
import { authHeaderFindings, headerFindings } from '../auth/header-findings.ts';
import { audienceFindings, namedOIDCFindings, oidcFindings } from '../auth/oidc-findings.ts';
import type { Finding, View } from '../kind.ts';
import { listingFindings } from '../listing.ts';
import { podTemplateFindings } from '../pods/pod-template.ts';
import { PROXY_ANNOTATIONS } from '../proxy/annotations.ts';
import { proxyPortFindings } from '../proxy/port-findings.ts';
import { remotePlaceFindings, remoteUrlFindings } from '../proxy/remote-url.ts';
import { sessionFindings } from '../proxy/session-findings.ts';
import { telemetryFindings } from '../proxy/telemetry-findings.ts';
import { namedTelemetryFindings } from '../proxy/telemetry-settings.ts';
import { toolConfigFindings } from '../proxy/tools.ts';
import { toolsLockFindings } from '../tools-lock.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import { BEHIND, proxyUrl, type RemoteProxy, tokenSourceOf } from './facts.ts';

export function rules({ spec, resource }: RemoteProxy): readonly Finding[] {
  return [
    ...urlFindings(spec),
    ...podTemplateFindings(spec.podTemplateSpec, '/spec/podTemplateSpec'),
    ...storageFindings(spec),
    ...oidcFindings(spec.oidcConfig),
    ...proxyPortFindings(spec),
    ...inlineAuthzFindings(spec.authzConfig),
    ...telemetryFindings(spec.telemetry?.openTelemetry, '/spec/telemetry/openTelemetry'),
    ...headerFindings(spec.headerForward, '/spec/headerForward'),
    ...annotationFindings(resource, PROXY_ANNOTATIONS, [BEHIND]),
    ...listingFindings(resource),
  ];
}

function urlFindings({ remoteURL, allowPrivateEndpoint: mayBePrivate }: RemoteProxy['spec']): readonly Finding[] {
  const faults = remoteUrlFindings(remoteURL, '/spec/remoteURL');
  if (faults.length > 0 || mayBePrivate === undefined) return faults;
  return remotePlaceFindings(remoteURL, { mayBePrivate, pointer: '/spec/remoteURL', caller: 'the proxy' });
}

function storageFindings(spec: RemoteProxy['spec']): readonly Finding[] {
  if (spec.transport !== 'streamable-http') return sessionFindings(spec);
  if (spec.sessionStorage === undefined) return [];
  return [
    fieldWithoutEffect(
      '/spec/sessionStorage',
      'the remote server keeps its sessions itself: any proxy can continue them',
    ),
  ];
}

export function inspect(self: RemoteProxy, view: View): readonly Finding[] {
  const { spec } = self;
  return [
    ...namedOIDCFindings(tokenSourceOf(spec), view),
    ...(hasOwnIssuer(spec, view) ? [] : audienceFindings(spec, view, proxyUrl(self))),
    ...namedAuthzFindings(spec, view),
    ...toolConfigFindings(spec.toolConfigRef, view),
    ...namedTelemetryFindings(spec, view),
    ...externalAuthFindings({ ...spec, replicas: spec.replicas ?? 1 }, false, view),
    ...authHeaderFindings(spec.headerForward, spec.externalAuthConfigRef, view, '/spec/headerForward'),
    ...toolsLockFindings(self.resource, view),
  ];
}
