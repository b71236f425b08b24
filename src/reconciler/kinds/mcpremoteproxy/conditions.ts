// Computes the conditions of an MCPRemoteProxy, except Ready.

import type { ConditionResult } from '../conditions.ts';
import type { Finding, Observed } from '../kind.ts';
import { podTemplateConditions } from '../pods/pod-template-conditions.ts';
import { accountsConditions, bundleConditions, groupConditions } from '../proxy/conditions.ts';
import { NO_SESSIONS, sessionCondition } from '../proxy/session-condition.ts';
import { isReference, settingsConditions, settingsReason } from '../shared-settings.ts';
import { toolsLockCondition } from '../tools-lock.ts';
import type { RemoteProxy } from './facts.ts';

export function remoteProxyConditions({ spec, resource }: RemoteProxy, observed: Observed): readonly ConditionResult[] {
  const { view, refusals } = observed;
  return [
    ...configurationConditions(refusals),
    ...groupConditions(spec.groupRef, view),
    ...settingsConditions(spec, refusals),
    ...(spec.replicas === undefined && spec.sessionStorage === undefined ? [] : [sessionsCondition(spec)]),
    ...podTemplateConditions(spec.podTemplateSpec, refusals),
    ...bundleConditions(spec.oidcConfig, view),
    ...accountsConditions(spec, observed),
    ...toolsLockCondition(resource, view, spec.serviceAccount),
  ];
}

function sessionsCondition({ transport, sessionStorage, replicas }: RemoteProxy['spec']): ConditionResult {
  return transport === 'streamable-http'
    ? NO_SESSIONS
    : sessionCondition(sessionStorage, replicas, ['proxy', 'proxies']);
}

/** Returns AuthConfigured only if a check failed: ToolHive's clients read the condition as a problem. */
function configurationConditions(refusals: readonly Finding[]): readonly ConditionResult[] {
  const type = 'ConfigurationValid';
  const fault = configurationFault(refusals);
  if (fault === undefined) {
    return [{ type, status: 'True', reason: 'ConfigurationValid', message: 'the configuration is valid' }];
  }
  const { reason, message } = fault;
  return [
    { type, status: 'False', reason, message },
    { type: 'AuthConfigured', status: 'False', reason: 'AuthInvalid', message },
  ];
}

/** Returns the first failed check, in ToolHive's order; undefined if no check of the configuration failed. */
export function configurationFault(refusals: readonly Finding[]): { reason: string; message: string } | undefined {
  for (const [pointer, reasonOf] of CHECKS) {
    const failed = refusals.filter((finding) => finding.pointer.startsWith(pointer));
    const [first] = failed;
    if (first === undefined) continue;
    return { reason: reasonOf(first.code), message: failed.map(({ message }) => message).join('; ') };
  }
  return undefined;
}

const CHECKS: readonly (readonly [string, (code: string) => string])[] = [
  ['/spec/authServerRef', (code) => settingsReason('authServerRef', code)],
  ['/spec/externalAuthConfigRef', (code) => settingsReason('externalAuthConfigRef', code)],
  ['/spec/remoteURL', () => 'RemoteURLInvalid'],
  ['/spec/oidcConfigRef', (code) => settingsReason('oidcConfigRef', code)],
  ['/spec/oidcConfig', oidcReason],
  ['/spec/authzConfigRef', (code) => settingsReason('authzConfigRef', code)],
  ['/spec/authzConfig', (code) => (isReference(code) ? 'AuthzConfigMapNotFound' : 'AuthzPolicySyntaxInvalid')],
  ['/spec/headerForward', (code) => (isReference(code) ? 'HeaderSecretNotFound' : 'HeaderForwardInvalid')],
];

function oidcReason(code: string): string {
  if (code === 'oidc-issuer-insecure') return 'OIDCIssuerInsecure';
  return code === 'jwks-url-invalid' ? 'JWKSURLInvalid' : 'OIDCIssuerInvalid';
}
