// What is wrong with an MCPRemoteProxy that neither its schema nor CEL can say: in itself (rules), and in the content of
// what it names (inspect).

import { annotationFindings } from '../annotations.ts';
import { inlineAuthzFindings, namedAuthzFindings } from '../auth/authz-findings.ts';
import { externalAuthFindings, hasOwnIssuer } from '../auth/external-auth-findings.ts';
import { authHeaderFindings, headerFindings } from '../auth/header-findings.ts';
import { audienceFindings, namedOIDCFindings, oidcFindings } from '../auth/oidc-findings.ts';
import type { Finding, View } from '../kind.ts';
import { PROXY_ANNOTATIONS } from '../proxy/annotations.ts';
import { proxyPortFindings } from '../proxy/port-findings.ts';
import { remoteUrlFindings } from '../proxy/remote-url.ts';
import { telemetryFindings } from '../proxy/telemetry-findings.ts';
import { namedTelemetryFindings } from '../proxy/telemetry-settings.ts';
import { toolConfigFindings } from '../proxy/tools.ts';
import { BEHIND, proxyUrl, type RemoteProxy, tokenSourceOf } from './facts.ts';

export function rules({ spec, resource }: RemoteProxy): readonly Finding[] {
  return [
    ...remoteUrlFindings(spec.remoteURL, '/spec/remoteURL'),
    ...oidcFindings(spec.oidcConfig),
    ...proxyPortFindings(spec),
    ...inlineAuthzFindings(spec.authzConfig),
    ...telemetryFindings(spec.telemetry?.openTelemetry, '/spec/telemetry/openTelemetry'),
    ...headerFindings(spec.headerForward, '/spec/headerForward'),
    ...annotationFindings(resource, PROXY_ANNOTATIONS, [BEHIND]),
  ];
}

export function inspect(self: RemoteProxy, view: View): readonly Finding[] {
  const { spec } = self;
  return [
    ...namedOIDCFindings(tokenSourceOf(spec), view),
    ...(hasOwnIssuer(spec.externalAuthConfigRef, view) ? [] : audienceFindings(spec, view, proxyUrl(self))),
    ...namedAuthzFindings(spec, view),
    ...toolConfigFindings(spec.toolConfigRef, view),
    ...namedTelemetryFindings(spec, view),
    ...externalAuthFindings({ ...spec, replicas: 1 }, false, view),
    ...authHeaderFindings(spec.headerForward, spec.externalAuthConfigRef, view, '/spec/headerForward'),
  ];
}
