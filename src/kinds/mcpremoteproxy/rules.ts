// What is wrong with an MCPRemoteProxy that neither its schema nor CEL can say: in itself (rules), and in the content of
// what it names (inspect). Knows nothing about what follows from it.

import type { Finding, View } from '../kind.ts';
import { externalAuthFindings } from '../shared/external-auth-findings.ts';
import { authHeaderFindings, headerFindings } from '../shared/header-findings.ts';
import { configMapAuthzFindings, inlineAuthzFindings } from '../shared/proxy-authz.ts';
import { configMapOIDCFindings, oidcFindings } from '../shared/proxy-oidc.ts';
import { toolConfigFindings } from '../shared/proxy-tools.ts';
import type { RemoteProxy } from './facts.ts';

export function rules({ spec }: RemoteProxy): readonly Finding[] {
  return [
    ...remoteUrlFindings(spec.remoteURL),
    ...oidcFindings(spec.oidcConfig),
    ...inlineAuthzFindings(spec.authzConfig),
    ...headerFindings(spec.headerForward, '/spec/headerForward'),
  ];
}

function remoteUrlFindings(remoteURL: string): readonly Finding[] {
  const fault = urlFault(remoteURL);
  if (fault === undefined) return [];
  return [{ code: 'remote-url-invalid', severity: 'error', pointer: '/spec/remoteURL', message: fault }];
}

function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'remoteURL must be a whole URL, such as https://mcp.example.com/mcp';
  const { username, password, hash } = new URL(text);
  if (username !== '' || password !== '') {
    return 'remoteURL must not hold credentials, which anyone could read here: use externalAuthConfigRef';
  }
  return hash === '' ? undefined : 'remoteURL must not hold a fragment, which no request carries';
}

export function inspect({ spec }: RemoteProxy, view: View): readonly Finding[] {
  return [
    ...configMapOIDCFindings(spec.oidcConfig, view),
    ...configMapAuthzFindings(spec.authzConfig, view),
    ...toolConfigFindings(spec.toolConfigRef, view),
    ...externalAuthFindings(spec, false, view),
    ...authHeaderFindings(spec.headerForward, spec.externalAuthConfigRef, view, '/spec/headerForward'),
  ];
}
