// Computes whether virtual servers can use an MCPServerEntry. The status does not say whether the remote server
// responds, because an entry has no pods that could test this.

import type { Static } from '#std/schema.ts';
import { type ConditionResult, conditionsOf, observedGeneration, refusalReason } from '../conditions.ts';
import type { Finding, Observed } from '../kind.ts';
import { refusalMessage } from '../pods/progress.ts';
import { caBundleConditions, groupConditions } from '../proxy/conditions.ts';
import { isReference, settingsConditions } from '../shared-settings.ts';
import type { ServerEntry } from './references.ts';
import type { MCPServerEntryStatus } from './schema.ts';

export function status(self: ServerEntry, observed: Observed): Static<typeof MCPServerEntryStatus> {
  const { spec, resource } = self;
  const { refusals, view } = observed;
  const conditions = [
    validCondition(refusals),
    ...groupConditions(spec.groupRef.name, view),
    ...settingsConditions({ externalAuthConfigRef: spec.externalAuthConfigRef }, refusals),
    ...caBundleConditions(spec.caBundleRef, view),
    urlCondition(refusals),
    ...headersConditions(self, refusals),
    readyCondition(refusals),
  ];
  return {
    ...observedGeneration(resource),
    phase: refusals.length === 0 ? 'Valid' : 'Failed',
    conditions: conditionsOf(resource, conditions, observed),
  };
}

function validCondition(refusals: readonly Finding[]): ConditionResult {
  const type = 'Valid';
  if (refusals.length === 0) return { type, status: 'True', reason: 'ConfigValid', message: USABLE };
  return { type, status: 'False', reason: 'ConfigInvalid', message: refusalMessage(refusals) };
}

function readyCondition(refusals: readonly Finding[]): ConditionResult {
  const type = 'Ready';
  const [refusal] = refusals;
  if (refusal === undefined) return { type, status: 'True', reason: 'ConfigValid', message: USABLE };
  return { type, status: 'False', reason: refusalReason(refusal), message: refusalMessage(refusals) };
}

const USABLE = 'virtual servers can use the entry';

function urlCondition(refusals: readonly Finding[]): ConditionResult {
  const type = 'RemoteURLValidated';
  const fault = refusals.find(({ pointer }) => pointer.startsWith('/spec/remoteUrl'));
  if (fault === undefined) {
    return {
      type,
      status: 'True',
      reason: 'RemoteURLValid',
      message: 'remoteUrl names a place that an entry may name',
    };
  }
  return { type, status: 'False', reason: 'RemoteURLInvalid', message: fault.message };
}

function headersConditions({ spec }: ServerEntry, refusals: readonly Finding[]): readonly ConditionResult[] {
  if ((spec.headerForward?.addHeadersFromSecret ?? []).length === 0) return [];
  const type = 'HeaderSecretRefsValidated';
  const missing = refusals.find(({ pointer, code }) => pointer.startsWith('/spec/headerForward') && isReference(code));
  if (missing === undefined) {
    return [{ type, status: 'True', reason: 'HeaderSecretsValid', message: 'the Secrets of the headers exist' }];
  }
  return [{ type, status: 'False', reason: 'HeaderSecretNotFound', message: missing.message }];
}
