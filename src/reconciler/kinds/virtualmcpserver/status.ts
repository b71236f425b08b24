// Computes the status of a VirtualMCPServer from its Deployment, its backends and the reasons why its children are kept
// unchanged.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { countText } from '#std/words/count-text.ts';
import { type ConditionResult, conditionsOf, observedGeneration, refusalReason } from '../conditions.ts';
import type { Observed } from '../kind.ts';
import { refusalMessage } from '../pods/progress.ts';
import { readyReplicas, workloadState } from '../pods/workload.ts';
import { settingsHashes } from '../shared-settings.ts';
import { type Backend, backendsOf } from './backends.ts';
import { embeddingConditions, virtualServerConditions } from './conditions.ts';
import { originOf, type VirtualServer, virtualServerChildNames } from './facts.ts';
import type { VirtualMCPServerStatus } from './schema.ts';

type Status = Static<typeof VirtualMCPServerStatus>;
type Discovered = NonNullable<Status['discoveredBackends']>[number];

interface VirtualServerProgress {
  readonly phase: Status['phase'];
  readonly message: string;
  readonly reason: string;
  /** Set to false if the phase is Ready but new pods are starting. */
  readonly ready?: false;
}

export function status(self: VirtualServer, observed: Observed): Status {
  const backends = backendsOf(self.spec, observed.view);
  const discovered = backends.map((backend) => discoveredBackend(self, backend));
  const { phase, message, reason, ready = phase === 'Ready' } = progress(self, discovered, observed);
  const isReady: ConditionResult = { type: 'Ready', status: ready ? 'True' : 'False', reason, message };
  const degraded: ConditionResult = { type: 'Degraded', status: 'True', reason, message };
  return {
    ...observedGeneration(self.resource),
    phase,
    message,
    url: originOf(self),
    discoveredBackends: discovered,
    backendCount: countOf(discovered, 'ready'),
    ...hashes(self, observed),
    conditions: conditionsOf(
      self.resource,
      [
        ...virtualServerConditions(self, backends, observed),
        backendsCondition(discovered),
        ...(phase === 'Degraded' ? [degraded] : []),
        isReady,
      ],
      observed,
    ),
  };
}

function hashes({ spec }: VirtualServer, { view }: Observed) {
  const { oidcConfigHash, authzConfigHash } = settingsHashes(spec.incomingAuth, view);
  return { oidcConfigHash, authzConfigHash, telemetryConfigHash: settingsHashes(spec, view).telemetryConfigHash };
}

function backendsCondition(backends: readonly Discovered[]): ConditionResult {
  const message = `${countText(backends.length, 'backend')}, ${countOf(backends, 'ready')} ready`;
  return { type: 'BackendsDiscovered', status: 'True', reason: 'BackendsDiscovered', message };
}

/**
 * Returns the first state that applies: kept unchanged, failed children, waiting for the EmbeddingServer, or the state
 * of the pods.
 */
function progress(self: VirtualServer, backends: readonly Discovered[], observed: Observed): VirtualServerProgress {
  const { refusals, failures, view } = observed;
  const [refusal] = refusals;
  if (refusal !== undefined) {
    return { phase: 'Failed', message: refusalMessage(refusals), reason: refusalReason(refusal) };
  }
  if (failures.length > 0) return { phase: 'Failed', message: failures.join('; '), reason: 'ChildrenFailed' };
  const waiting = embeddingConditions(self.spec, view).find((each) => each.status === 'False');
  if (waiting !== undefined) return { phase: 'Pending', message: waiting.message, reason: waiting.reason };
  return podProgress(self, backends, observed);
}

function podProgress(
  { name }: VirtualServer,
  backends: readonly Discovered[],
  { view }: Observed,
): VirtualServerProgress {
  const state = workloadState(view, 'Deployment', virtualServerChildNames(name).deployment);
  if (state.state === 'stopped') {
    return { phase: 'Pending', message: 'Virtual MCP server is scaled to zero', reason: 'ScaledToZero' };
  }
  if (readyReplicas(state) > 0) {
    const served = backendProgress(backends);
    return state.state === 'complete' ? served : { ...served, reason: 'RolloutInProgress', ready: false };
  }
  if (state.state === 'failed') return { phase: 'Failed', message: state.message, reason: 'DeploymentFailed' };
  const message = state.state === 'missing' ? 'Virtual MCP server is being created' : 'Virtual MCP server is starting';
  return { phase: 'Pending', message, reason: 'DeploymentNotReady' };
}

function backendProgress(backends: readonly Discovered[]): VirtualServerProgress {
  const ready = countOf(backends, 'ready');
  const unknown = countOf(backends, 'unknown');
  if (ready === backends.length) {
    return { phase: 'Ready', message: 'Virtual MCP server is running', reason: 'DeploymentReady' };
  }
  const message = `Virtual MCP server is running, with ${ready} of ${backends.length} backends ready`;
  if (ready > 0) return { phase: 'Degraded', message, reason: 'BackendsDegraded' };
  return { phase: 'Degraded', message, reason: unknown > 0 ? 'BackendsUnknown' : 'BackendsUnavailable' };
}

function countOf(backends: readonly Discovered[], status: Discovered['status']): number {
  return backends.filter((backend) => backend.status === status).length;
}

/**
 * Returns the state of a backend that the server has reported (contracts/vmcp-config.ts). Without a report, returns the
 * state in the member's status.
 */
function discoveredBackend({ resource }: VirtualServer, backend: Backend): Discovered {
  const { name, url, authConfig, auth, member } = backend;
  const known = {
    name,
    url,
    authConfigRef: authConfig,
    authType: 'fault' in auth ? undefined : auth.strategy.type,
  };
  if ('fault' in auth) return { ...known, status: 'unavailable', message: auth.fault };
  return { ...known, ...(reported(resource.status, name) ?? { status: memberStatus(member?.status) }) };
}

/** Converts the phase of a member of any kind. */
function memberStatus(status: unknown): NonNullable<Discovered['status']> {
  switch (isObject(status) ? status.phase : undefined) {
    case 'Running':
    case 'Ready':
      return 'ready';
    case 'Failed':
    case 'Stopped':
    case 'Terminating':
      return 'unavailable';
    default:
      return 'unknown';
  }
}

/**
 * Leaves out the server's reports about backends, which only the server writes. A field that two managers apply stays
 * until both leave it out, so a failure's message would stay after the failure.
 */
export function written(status: JsonObject): JsonObject {
  const backends = Array.isArray(status.discoveredBackends) ? status.discoveredBackends.filter(isObject) : [];
  return { ...status, discoveredBackends: backends.map(withoutReport) };
}

function withoutReport(backend: JsonObject): JsonObject {
  if (backend.lastHealthCheck === undefined) return backend;
  const { name, url, authConfigRef, authType } = backend;
  const own = { name, url, authConfigRef, authType };
  return Object.fromEntries(Object.entries(own).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

type Report = Pick<
  Discovered,
  'status' | 'lastHealthCheck' | 'message' | 'circuitBreakerState' | 'circuitLastChanged' | 'consecutiveFailures'
>;

/** Returns the fields that the server last reported about a backend. The API server has validated these fields. */
function reported(status: JsonObject | undefined, name: string): Report | undefined {
  const living = Array.isArray(status?.discoveredBackends) ? status.discoveredBackends : [];
  const found = living.filter(isObject).find((backend) => backend.name === name);
  if (found?.lastHealthCheck === undefined) return undefined;
  const { name: _name, url: _url, authConfigRef: _ref, authType: _type, ...report } = found;
  const value: unknown = report;
  return value as Report;
}
