// Computes the conditions of a VirtualMCPServer, except Ready.

import { isObject } from '#std/json.ts';
import { countText } from '#std/words/count-text.ts';
import type { Verdict } from '../conditions.ts';
import type { Finding, Observed, View } from '../kind.ts';
import { sessionVerdict } from '../proxy/session-verdict.ts';
import { accountsVerdict, bundleVerdict } from '../proxy/verdicts.ts';
import { settingsConditions } from '../shared-settings.ts';
import { backendsLockCondition } from '../tools-lock.ts';
import type { Backend } from './backends.ts';
import { type Spec, tokenSourceOf, type VirtualServer } from './facts.ts';

export function virtualServerVerdicts(
  self: VirtualServer,
  backends: readonly Backend[],
  observed: Observed,
): readonly Verdict[] {
  const { spec } = self;
  const { refusals, view } = observed;
  return [
    validVerdict(refusals),
    ...podTemplateVerdict(spec, refusals),
    groupVerdict(spec, view),
    workflowsVerdict(spec, observed),
    ...embeddingVerdict(spec, view),
    ...authServerVerdict(spec, refusals),
    authVerdict(spec, view),
    ...settingsConditions(spec.incomingAuth, refusals, '/spec/incomingAuth'),
    ...settingsConditions(spec, refusals),
    ...bundleVerdict(spec.incomingAuth.oidcConfig, view),
    ...accountsVerdict(tokenSourceOf(spec), observed),
    sessionVerdict(spec.sessionStorage, spec.replicas, ['server', 'servers']),
    ...backendsLockCondition({ name: self.name, account: spec.serviceAccount }, backends, view),
    ...backends.flatMap(conversionVerdict).filter(isFirstOfItsType),
  ];
}

function verdict(type: string, reason: string, message: string, holds = true): Verdict {
  return { type, status: holds ? 'True' : 'False', reason, message };
}

function sentences(findings: readonly Finding[]): string {
  return findings.map(({ message }) => message).join('; ');
}

function validVerdict(refusals: readonly Finding[]): Verdict {
  if (refusals.length === 0) return verdict('Valid', 'ValidationSucceeded', 'nothing is wrong with the server');
  return verdict('Valid', 'ValidationFailed', sentences(refusals), false);
}

function podTemplateVerdict({ podTemplateSpec }: Spec, refusals: readonly Finding[]): readonly Verdict[] {
  if (podTemplateSpec === undefined) return [];
  const type = 'PodTemplateSpecValid';
  const faults = refusals.filter(({ code }) => code === 'invalid-pod-template');
  if (faults.length === 0) return [verdict(type, 'PodTemplateSpecValid', 'podTemplateSpec is a pod template')];
  return [verdict(type, 'InvalidPodTemplateSpec', sentences(faults), false)];
}

function groupVerdict({ config }: Spec, view: View): Verdict {
  const type = 'GroupRefValidated';
  const group = view.find('MCPGroup', config.groupRef);
  const name = `MCPGroup ${config.groupRef}`;
  if (group === undefined) return verdict(type, 'GroupRefNotFound', `${name} does not exist in this namespace`, false);
  if (group.metadata.deletionTimestamp !== undefined) {
    return verdict(type, 'GroupRefNotFound', `${name} is being deleted`, false);
  }
  if (isObject(group.status) && group.status.phase === 'Failed') {
    return verdict(type, 'GroupRefNotReady', `${name} has failed`, false);
  }
  return verdict(type, 'GroupRefValid', `${name} exists`);
}

function workflowsVerdict({ config }: Spec, { view, refusals }: Observed): Verdict {
  const type = 'CompositeToolRefsValidated';
  const refs = config.compositeToolRefs ?? [];
  const missing = refs.filter(({ name }) => view.find('VirtualMCPCompositeToolDefinition', name) === undefined);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    return verdict(
      type,
      'CompositeToolRefNotFound',
      `VirtualMCPCompositeToolDefinition ${names} does not exist`,
      false,
    );
  }
  const faults = refusals.filter(({ code }) => code.startsWith('composite-tool-'));
  if (faults.length > 0) return verdict(type, 'CompositeToolRefInvalid', sentences(faults), false);
  return verdict(
    type,
    'CompositeToolRefsValid',
    `${countText(refs.length, 'workflow is', 'workflows are')} referred to, and valid`,
  );
}

/** Returns the condition about the EmbeddingServer, which is ready in phase Running with a ready pod. */
export function embeddingVerdict({ embeddingServerRef }: Spec, view: View): readonly Verdict[] {
  if (embeddingServerRef === undefined) return [];
  const type = 'EmbeddingServerReady';
  const name = `EmbeddingServer ${embeddingServerRef.name}`;
  const server = view.find('EmbeddingServer', embeddingServerRef.name);
  if (server === undefined) return [verdict(type, 'EmbeddingServerNotFound', `${name} does not exist`, false)];
  const { phase, readyReplicas } = isObject(server.status) ? server.status : {};
  if (phase === 'Running' && Number(readyReplicas) > 0)
    return [verdict(type, 'EmbeddingServerReady', `${name} is ready`)];
  const message = phase === 'Failed' ? `${name} has failed` : 'Waiting for EmbeddingServer to become ready';
  return [verdict(type, 'EmbeddingServerNotReady', message, false)];
}

function authServerVerdict({ authServerConfig }: Spec, refusals: readonly Finding[]): readonly Verdict[] {
  if (authServerConfig === undefined) return [];
  const type = 'AuthServerConfigValidated';
  const faults = refusals.filter(({ pointer }) => pointer.startsWith('/spec/authServerConfig'));
  if (faults.length === 0) return [verdict(type, 'AuthServerConfigValid', 'the authorization server is valid')];
  return [verdict(type, 'AuthServerConfigInvalid', sentences(faults), false)];
}

function authVerdict({ incomingAuth }: Spec, view: View): Verdict {
  const type = 'AuthConfigured';
  const ref = incomingAuth.oidcConfig?.inline?.clientSecretRef;
  if (incomingAuth.type === 'anonymous') return verdict(type, 'AuthValid', 'anyone may call');
  if (ref === undefined) return verdict(type, 'AuthValid', 'callers need a token');
  const secret = view.find('Secret', ref.name);
  if (secret === undefined) return verdict(type, 'AuthInvalid', `Secret ${ref.name} does not exist`, false);
  if (!isObject(secret.data) || secret.data[ref.key] === undefined) {
    return verdict(type, 'AuthInvalid', `Secret ${ref.name} has no key ${ref.key}`, false);
  }
  return verdict(type, 'AuthValid', 'callers need a token');
}

/**
 * Returns one condition for the default, and one for each backend with settings of authentication (its own settings, or
 * settings in the manifest).
 */
function conversionVerdict({ name, by, authConfig, auth }: Backend): readonly Verdict[] {
  if (authConfig === undefined) return [];
  const subject = { default: '', backend: `-${name}`, discovered: `-${name}`, nobody: '' }[by];
  const type = `${{ default: 'Default', backend: 'Backend', discovered: 'Discovered', nobody: '' }[by]}AuthConfig${subject}`;
  if ('fault' in auth) return [verdict(type, 'ConversionFailed', auth.fault, false)];
  return [verdict(type, 'ConversionSucceeded', `as MCPExternalAuthConfig ${authConfig} says`)];
}

function isFirstOfItsType({ type }: Verdict, index: number, all: readonly Verdict[]): boolean {
  return all.findIndex((other) => other.type === type) === index;
}
