// Computes the conditions of a VirtualMCPServer, except Ready.

import { isObject } from '#std/json.ts';
import { countText } from '#std/words/count-text.ts';
import type { ConditionResult } from '../conditions.ts';
import type { Finding, Observed, View } from '../kind.ts';
import { accountsConditions, bundleConditions } from '../proxy/conditions.ts';
import { sessionCondition } from '../proxy/session-condition.ts';
import { settingsConditions } from '../shared-settings.ts';
import { backendsLockCondition } from '../tools-lock.ts';
import type { Backend } from './backends.ts';
import { type Spec, tokenSourceOf, type VirtualServer } from './facts.ts';

export function virtualServerConditions(
  self: VirtualServer,
  backends: readonly Backend[],
  observed: Observed,
): readonly ConditionResult[] {
  const { spec } = self;
  const { refusals, view } = observed;
  return [
    validCondition(refusals),
    ...templateConditions(spec, refusals),
    groupCondition(spec, view),
    workflowsConditions(spec, observed),
    ...embeddingConditions(spec, view),
    ...authServerConditions(spec, refusals),
    authCondition(spec, view),
    ...settingsConditions(spec.incomingAuth, refusals, '/spec/incomingAuth'),
    ...settingsConditions(spec, refusals),
    ...bundleConditions(spec.incomingAuth.oidcConfig, view),
    ...accountsConditions(tokenSourceOf(spec), observed),
    sessionCondition(spec.sessionStorage, spec.replicas, ['server', 'servers']),
    ...backendsLockCondition({ name: self.name, account: spec.serviceAccount }, backends, view),
    ...backends.flatMap(conversionConditions).filter(isFirstOfItsType),
  ];
}

function conditionResult(type: string, reason: string, message: string, holds = true): ConditionResult {
  return { type, status: holds ? 'True' : 'False', reason, message };
}

function sentences(findings: readonly Finding[]): string {
  return findings.map(({ message }) => message).join('; ');
}

function validCondition(refusals: readonly Finding[]): ConditionResult {
  if (refusals.length === 0) return conditionResult('Valid', 'ValidationSucceeded', 'nothing is wrong with the server');
  return conditionResult('Valid', 'ValidationFailed', sentences(refusals), false);
}

function templateConditions({ podTemplateSpec }: Spec, refusals: readonly Finding[]): readonly ConditionResult[] {
  if (podTemplateSpec === undefined) return [];
  const type = 'PodTemplateSpecValid';
  const faults = refusals.filter(({ code }) => code === 'invalid-pod-template');
  if (faults.length === 0) return [conditionResult(type, 'PodTemplateSpecValid', 'podTemplateSpec is a pod template')];
  return [conditionResult(type, 'InvalidPodTemplateSpec', sentences(faults), false)];
}

function groupCondition({ config }: Spec, view: View): ConditionResult {
  const type = 'GroupRefValidated';
  const group = view.find('MCPGroup', config.groupRef);
  const name = `MCPGroup ${config.groupRef}`;
  if (group === undefined)
    return conditionResult(type, 'GroupRefNotFound', `${name} does not exist in this namespace`, false);
  if (group.metadata.deletionTimestamp !== undefined) {
    return conditionResult(type, 'GroupRefNotFound', `${name} is being deleted`, false);
  }
  if (isObject(group.status) && group.status.phase === 'Failed') {
    return conditionResult(type, 'GroupRefNotReady', `${name} has failed`, false);
  }
  return conditionResult(type, 'GroupRefValid', `${name} exists`);
}

function workflowsConditions({ config }: Spec, { view, refusals }: Observed): ConditionResult {
  const type = 'CompositeToolRefsValidated';
  const refs = config.compositeToolRefs ?? [];
  const missing = refs.filter(({ name }) => view.find('VirtualMCPCompositeToolDefinition', name) === undefined);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    return conditionResult(
      type,
      'CompositeToolRefNotFound',
      `VirtualMCPCompositeToolDefinition ${names} does not exist`,
      false,
    );
  }
  const faults = refusals.filter(({ code }) => code.startsWith('composite-tool-'));
  if (faults.length > 0) return conditionResult(type, 'CompositeToolRefInvalid', sentences(faults), false);
  return conditionResult(
    type,
    'CompositeToolRefsValid',
    `${countText(refs.length, 'workflow is', 'workflows are')} referred to, and valid`,
  );
}

/** Returns the condition about the EmbeddingServer, which is ready if its phase is Running and a pod is ready. */
export function embeddingConditions({ embeddingServerRef }: Spec, view: View): readonly ConditionResult[] {
  if (embeddingServerRef === undefined) return [];
  const type = 'EmbeddingServerReady';
  const name = `EmbeddingServer ${embeddingServerRef.name}`;
  const server = view.find('EmbeddingServer', embeddingServerRef.name);
  if (server === undefined) return [conditionResult(type, 'EmbeddingServerNotFound', `${name} does not exist`, false)];
  const { phase, readyReplicas } = isObject(server.status) ? server.status : {};
  if (phase === 'Running' && Number(readyReplicas) > 0)
    return [conditionResult(type, 'EmbeddingServerReady', `${name} is ready`)];
  const message = phase === 'Failed' ? `${name} has failed` : 'Waiting for EmbeddingServer to become ready';
  return [conditionResult(type, 'EmbeddingServerNotReady', message, false)];
}

function authServerConditions({ authServerConfig }: Spec, refusals: readonly Finding[]): readonly ConditionResult[] {
  if (authServerConfig === undefined) return [];
  const type = 'AuthServerConfigValidated';
  const faults = refusals.filter(({ pointer }) => pointer.startsWith('/spec/authServerConfig'));
  if (faults.length === 0) return [conditionResult(type, 'AuthServerConfigValid', 'the authorization server is valid')];
  return [conditionResult(type, 'AuthServerConfigInvalid', sentences(faults), false)];
}

function authCondition({ incomingAuth }: Spec, view: View): ConditionResult {
  const type = 'AuthConfigured';
  const ref = incomingAuth.oidcConfig?.inline?.clientSecretRef;
  if (incomingAuth.type === 'anonymous') return conditionResult(type, 'AuthValid', 'anyone may call');
  if (ref === undefined) return conditionResult(type, 'AuthValid', 'callers need a token');
  const secret = view.find('Secret', ref.name);
  if (secret === undefined) return conditionResult(type, 'AuthInvalid', `Secret ${ref.name} does not exist`, false);
  if (!isObject(secret.data) || secret.data[ref.key] === undefined) {
    return conditionResult(type, 'AuthInvalid', `Secret ${ref.name} has no key ${ref.key}`, false);
  }
  return conditionResult(type, 'AuthValid', 'callers need a token');
}

/**
 * Returns the condition about a backend's MCPExternalAuthConfig. All backends with the default settings share one type
 * of condition.
 */
function conversionConditions({ name, by, authConfig, auth }: Backend): readonly ConditionResult[] {
  if (authConfig === undefined) return [];
  const subject = { default: '', backend: `-${name}`, discovered: `-${name}`, nobody: '' }[by];
  const type = `${{ default: 'Default', backend: 'Backend', discovered: 'Discovered', nobody: '' }[by]}AuthConfig${subject}`;
  if ('fault' in auth) return [conditionResult(type, 'ConversionFailed', auth.fault, false)];
  return [conditionResult(type, 'ConversionSucceeded', `as MCPExternalAuthConfig ${authConfig} says`)];
}

function isFirstOfItsType({ type }: ConditionResult, index: number, all: readonly ConditionResult[]): boolean {
  return all.findIndex((other) => other.type === type) === index;
}
