// Computes the status of an MCPRegistry from its service and from the sync states of its sources.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { type ConditionResult, conditionsOf, observedGeneration, refusalReason } from '../conditions.ts';
import type { Observed } from '../kind.ts';
import { podTemplateConditions } from '../pods/pod-template-conditions.ts';
import { refusalMessage } from '../pods/progress.ts';
import { readyReplicas, workloadState } from '../pods/workload.ts';
import { apiEndpoint, type EffectiveRegistry, registryChildNames } from './facts.ts';
import type { MCPRegistryStatus } from './schema.ts';
import { type SyncStatus, syncPart } from './sync-status.ts';

type Status = Static<typeof MCPRegistryStatus>;
type ApiState = NonNullable<Status['apiStatus']>;

interface RegistryProgress {
  readonly phase: NonNullable<Status['phase']>;
  readonly message: string;
  readonly reason: string;
  /** Set to false if the phase is Ready but new pods are starting or fail to start. */
  readonly ready?: false;
}

export function status(self: EffectiveRegistry, observed: Observed): Status {
  const api = apiStatus(self, observed);
  const sync = syncPart(self, observed);
  const { phase, message, reason, ready = phase === 'Ready' } = registryProgress(self, observed, api, sync.syncStatus);
  return {
    ...observedGeneration(self.resource),
    phase,
    message,
    ...sync,
    apiStatus: api,
    conditions: conditionsOf(
      self.resource,
      [
        ...podTemplateConditions(self.spec.podTemplateSpec, observed.refusals),
        apiCondition(api, observed),
        ...syncConditions(sync.syncStatus),
        { type: 'Ready', status: ready ? 'True' : 'False', reason, message },
      ],
      observed,
    ),
  };
}

function apiStatus(self: EffectiveRegistry, { view, refusals, failures, now }: Observed): ApiState {
  const endpoint = apiEndpoint(self);
  if (refusals.length > 0) return { phase: 'Error', message: refusalMessage(refusals), endpoint };
  if (failures.length > 0) return { phase: 'Error', message: failures.join('; '), endpoint };
  const state = workloadState(view, 'Deployment', registryChildNames(self.name).api);
  const before = isObject(self.resource.status?.apiStatus) ? self.resource.status.apiStatus : {};
  if (readyReplicas(state) > 0) {
    const readySince = typeof before.readySince === 'string' ? before.readySince : now;
    return { phase: 'Ready', message: 'Registry API is ready and serving requests', endpoint, readySince };
  }
  const wasReady = before.phase === 'Ready' || before.phase === 'Unhealthy';
  switch (state.state) {
    case 'missing':
      return { phase: 'NotStarted', message: 'Registry API deployment does not exist yet', endpoint };
    case 'stopped':
      return { phase: 'Unhealthy', message: 'Registry API deployment is scaled to zero', endpoint };
    case 'failed':
      return { phase: 'Error', message: state.message, endpoint };
    case 'progressing':
    case 'complete': {
      const message = 'Registry API deployment is not ready yet';
      return { phase: wasReady ? 'Unhealthy' : 'Deploying', message, endpoint };
    }
  }
}

/**
 * Returns the first state that applies, in this order: deletion, errors of the service, errors of the store, rollout,
 * sync. A failed sync leaves the phase Ready if entries of an earlier sync are served.
 */
function registryProgress(
  self: EffectiveRegistry,
  observed: Observed,
  api: ApiState,
  sync: SyncStatus | undefined,
): RegistryProgress {
  if (self.resource.metadata.deletionTimestamp !== undefined) {
    return { phase: 'Terminating', message: 'MCPRegistry is being terminated', reason: 'Terminating' };
  }
  if (api.phase === 'Error') return failure(observed, api.message ?? '');
  if (observed.storeFailure !== undefined) {
    const message = `the store of the catalogue failed: ${observed.storeFailure}`;
    return { phase: 'Failed', message, reason: 'StoreFailed' };
  }
  const state = workloadState(observed.view, 'Deployment', registryChildNames(self.name).api);
  if (api.phase !== 'Ready') {
    const reason = state.state === 'stopped' ? 'ScaledToZero' : 'APINotReady';
    return { phase: 'Pending', message: 'API is not ready', reason };
  }
  if (state.state === 'failed') {
    const message = `Registry is ready; its new pods are not: ${state.message}`;
    return { phase: 'Ready', message, reason: 'DeploymentFailed', ready: false };
  }
  if (state.state !== 'complete') {
    return { phase: 'Ready', message: 'Registry is ready; new pods start', reason: 'RolloutInProgress', ready: false };
  }
  return syncProgress(sync);
}

/** Returns a reason for each kind of failure, because each reason has its own Event. */
function failure({ refusals: [refusal], failures }: Observed, message: string): RegistryProgress {
  if (refusal === undefined) {
    const reason = failures.length > 0 ? 'ChildrenFailed' : 'DeploymentFailed';
    return { phase: 'Failed', message: `API deployment failed: ${message}`, reason };
  }
  const prefix = refusal.code === 'invalid-pod-template' ? '' : 'API deployment failed: ';
  return { phase: 'Failed', message: prefix + message, reason: refusalReason(refusal) };
}

function syncProgress(sync: SyncStatus | undefined): RegistryProgress {
  if (sync?.phase === 'Syncing') {
    return { phase: 'Syncing', message: `API is ready; ${sync.message}`, reason: 'SyncInProgress' };
  }
  if (sync?.phase !== 'Failed') {
    const message = 'Registry is ready and API is serving requests';
    return { phase: 'Ready', message, reason: 'RegistryReady' };
  }
  if (sync.lastSyncTime === undefined) {
    return { phase: 'Failed', message: `sync failed: ${sync.message}`, reason: 'SyncFailed' };
  }
  const message = `serving the entries of the last sync; sync failed: ${sync.message}`;
  return { phase: 'Ready', message, reason: 'RegistryReady' };
}

function apiCondition(api: ApiState, { refusals, failures }: Observed): ConditionResult {
  const message = api.message ?? '';
  if (api.phase === 'Ready') return { type: 'APIReady', status: 'True', reason: 'APIReady', message };
  const password = refusals.some(({ pointer }) => pointer.startsWith('/spec/databaseConfig'));
  const broken = refusals.length > 0 || failures.length > 0 || api.phase === 'Error';
  const reason = password ? 'PGPassSecretFailed' : broken ? 'DeploymentFailed' : 'APINotReady';
  return { type: 'APIReady', status: 'False', reason, message };
}

function syncConditions(sync: SyncStatus | undefined): readonly ConditionResult[] {
  if (sync === undefined) return [];
  const message = sync.message ?? '';
  switch (sync.phase) {
    case 'Complete':
      return [{ type: 'SyncSuccessful', status: 'True', reason: 'SyncComplete', message }];
    case 'Failed':
      return [{ type: 'SyncSuccessful', status: 'False', reason: 'SyncFailed', message }];
    case 'Syncing':
      return [{ type: 'SyncSuccessful', status: 'Unknown', reason: 'SyncInProgress', message }];
  }
}
