// Tests the phase, the backends and the conditions of a VirtualMCPServer. In one file, because the functions that build
// the server, its group and the observed cluster serve all tests.

import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Finding, Observed, Resource, View } from '../kind.ts';
import { VirtualMCPServer } from './index.ts';

const SPEC = {
  incomingAuth: { type: 'anonymous' },
  serviceType: 'ClusterIP',
  sessionAffinity: 'ClientIP',
  config: {
    groupRef: 'tools',
    aggregation: { conflictResolution: 'prefix', conflictResolutionConfig: {}, excludeAllTools: false },
    operational: { timeouts: {}, failureHandling: {} },
  },
};

function server(spec: JsonObject = {}, status?: JsonObject): Resource {
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'VirtualMCPServer',
    metadata: { name: 'office', namespace: 'agents', generation: 4 },
    spec: { ...SPEC, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

interface Live {
  readonly kind: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

function viewOf(objects: readonly Live[]): View {
  const named = objects.map(({ kind, name, ...rest }) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: 'agents', generation: 2 },
    ...(rest as JsonObject),
  }));
  return {
    find: (kind, name) => named.find((object) => object.kind === kind && object.metadata.name === name),
    all: (kind) => named.filter((object) => object.kind === kind),
  };
}

const GROUP: Live = { kind: 'MCPGroup', name: 'tools' };

function deployment(ready: number, more: JsonObject = {}, replicas = 2): Live {
  const status = { observedGeneration: 2, replicas, updatedReplicas: replicas, readyReplicas: ready, ...more };
  return { kind: 'Deployment', name: 'office', spec: { replicas }, status };
}

/** Returns a member of the group whose status contains only a phase. */
function member(name: string, phase?: string): Live {
  const spec = { transport: 'sse', port: 8080, proxyPort: 8080, groupRef: 'tools' };
  return { kind: 'MCPServer', name, spec, ...(phase === undefined ? {} : { status: { phase } }) };
}

const refusal = (code: string, message: string, pointer = '/spec'): Finding => {
  return { code, severity: 'error', pointer, message };
};

function observe(live: readonly Live[], more: Partial<Observed> = {}): Observed {
  return { view: viewOf([GROUP, ...live]), refusals: [], failures: [], now: '2026-11-21T12:00:00Z', ...more };
}

function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.filter(isObject).find((each) => each.type === type);
}

const FAILED = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'no image' }];

describe('the phase of a VirtualMCPServer', () => {
  const rows: { reason: string; resource?: Resource; observed: Observed; reported: string }[] = [
    { reason: 'nothing was made yet', observed: observe([]), reported: 'Pending DeploymentNotReady False 0' },
    { reason: 'no pod is ready', observed: observe([deployment(0)]), reported: 'Pending DeploymentNotReady False 0' },
    {
      reason: 'Kubernetes gave up',
      observed: observe([deployment(0, { conditions: FAILED })]),
      reported: 'Failed DeploymentFailed False 0',
    },
    {
      reason: 'Kubernetes gave up on new pods, and older ones serve',
      observed: observe([deployment(1, { conditions: FAILED })]),
      reported: 'Ready RolloutInProgress False 0',
    },
    {
      reason: 'it is scaled to zero',
      observed: observe([deployment(0, {}, 0)]),
      reported: 'Pending ScaledToZero False 0',
    },
    { reason: 'the group is empty', observed: observe([deployment(2)]), reported: 'Ready DeploymentReady True 0' },
    {
      reason: 'new pods are on their way',
      observed: observe([deployment(2, { updatedReplicas: 1 })]),
      reported: 'Ready RolloutInProgress False 0',
    },
    {
      reason: 'all backends are ready',
      observed: observe([deployment(2), member('clock', 'Running'), member('weather', 'Ready')]),
      reported: 'Ready DeploymentReady True 2',
    },
    {
      reason: 'a backend has failed',
      observed: observe([deployment(2), member('clock', 'Running'), member('weather', 'Failed')]),
      reported: 'Degraded BackendsDegraded False 1',
    },
    {
      reason: 'every backend has failed',
      observed: observe([deployment(2), member('clock', 'Stopped'), member('weather', 'Failed')]),
      reported: 'Degraded BackendsUnavailable False 0',
    },
    {
      reason: 'nobody has said how the backends are',
      observed: observe([deployment(2), member('clock', 'Pending'), member('weather')]),
      reported: 'Degraded BackendsUnknown False 0',
    },
    {
      reason: 'a backend has failed, and new pods are on their way',
      observed: observe([deployment(2, { updatedReplicas: 1 }), member('clock', 'Failed')]),
      reported: 'Degraded RolloutInProgress False 0',
    },
    {
      reason: 'a member of another group is not a backend',
      observed: observe([deployment(2), { ...member('clock', 'Failed'), spec: { groupRef: 'others' } }]),
      reported: 'Ready DeploymentReady True 0',
    },
    {
      reason: 'the EmbeddingServer is not ready, though the pods are',
      resource: server({ embeddingServerRef: { name: 'embeddings' } }),
      observed: observe([deployment(2), { kind: 'EmbeddingServer', name: 'embeddings', status: { phase: 'Running' } }]),
      reported: 'Pending EmbeddingServerNotReady False 0',
    },
    {
      reason: 'the EmbeddingServer is ready',
      resource: server({ embeddingServerRef: { name: 'embeddings' } }),
      observed: observe([
        deployment(2),
        { kind: 'EmbeddingServer', name: 'embeddings', status: { phase: 'Running', readyReplicas: 1 } },
      ]),
      reported: 'Ready DeploymentReady True 0',
    },
    {
      reason: 'its children are held',
      observed: observe([deployment(2)], { refusals: [refusal('reference-missing', 'no MCPToolConfig x')] }),
      reported: 'Failed ReferenceMissing False 0',
    },
    {
      reason: 'its children could not be written',
      observed: observe([deployment(2)], { failures: ['Service vmcp-office: forbidden'] }),
      reported: 'Failed ChildrenFailed False 0',
    },
  ];

  it.each(rows)('where $reason', ({ resource = server(), observed, reported }) => {
    const status = VirtualMCPServer.status(resource, observed);
    const ready = conditionOf(status, 'Ready');
    expect(`${status.phase} ${ready?.reason} ${ready?.status} ${status.backendCount}`).toBe(reported);
    expect(status.observedGeneration).toBe(4);
    expect(status.url).toBe('http://vmcp-office.agents.svc.cluster.local:4483');
    expect(conditionOf(status, 'Degraded')?.status).toBe(status.phase === 'Degraded' ? 'True' : undefined);
  });
});

describe('reports of the server about its backends', () => {
  const REPORT = {
    status: 'degraded',
    lastHealthCheck: '2026-11-21T11:59:00Z',
    message: 'slow',
    circuitBreakerState: 'half-open',
    circuitLastChanged: '2026-11-21T11:58:00Z',
    consecutiveFailures: 2,
  };
  const live = observe([deployment(2), member('clock', 'Running'), member('weather', 'Running')]);

  it('are kept, and take precedence over the status of the member', () => {
    const written = { discoveredBackends: [{ name: 'clock', url: 'http://old', ...REPORT }] };
    const status = VirtualMCPServer.status(server({}, written), live);
    const url = 'http://mcp-clock-proxy.agents.svc.cluster.local:8080/sse';
    const [clock] = Array.isArray(status.discoveredBackends) ? status.discoveredBackends : [];
    expect(clock).toEqual({ name: 'clock', url, authType: 'unauthenticated', ...REPORT });
    expect([status.phase, status.backendCount]).toEqual(['Degraded', 1]);
  });

  it('are deleted with the backend', () => {
    const written = { discoveredBackends: [{ name: 'gone', ...REPORT }] };
    const { discoveredBackends } = VirtualMCPServer.status(server({}, written), live);
    expect(JSON.stringify(discoveredBackends)).not.toContain('gone');
  });
});

const LEAVING = {
  apiVersion: 'toolhive.stacklok.dev/v1alpha1',
  kind: 'MCPGroup',
  metadata: { name: 'leaving', deletionTimestamp: '2026-11-21T12:00:00Z' },
};

describe('the conditions of a VirtualMCPServer', () => {
  const rows: { reason: string; spec?: JsonObject; observed: Observed; type: string; reported: string }[] = [
    {
      reason: 'the group does not exist',
      spec: { config: { ...SPEC.config, groupRef: 'none' } },
      observed: observe([]),
      type: 'GroupRefValidated',
      reported: 'False GroupRefNotFound: MCPGroup none does not exist in this namespace',
    },
    {
      reason: 'the group has failed',
      spec: { config: { ...SPEC.config, groupRef: 'sick' } },
      observed: observe([{ kind: 'MCPGroup', name: 'sick', status: { phase: 'Failed' } }]),
      type: 'GroupRefValidated',
      reported: 'False GroupRefNotReady: MCPGroup sick has failed',
    },
    {
      reason: 'the group is being deleted',
      observed: observe([], { view: { ...viewOf([]), find: () => LEAVING } }),
      type: 'GroupRefValidated',
      reported: `False GroupRefNotFound: MCPGroup ${SPEC.config.groupRef} is being deleted`,
    },
    {
      reason: 'a workflow does not exist',
      spec: { config: { ...SPEC.config, compositeToolRefs: [{ name: 'trip' }] } },
      observed: observe([]),
      type: 'CompositeToolRefsValidated',
      reported: 'False CompositeToolRefNotFound: VirtualMCPCompositeToolDefinition trip does not exist',
    },
    {
      reason: 'a workflow is not valid',
      observed: observe([], { refusals: [refusal('composite-tool-invalid', 'the workflow of trip is not valid: x')] }),
      type: 'CompositeToolRefsValidated',
      reported: 'False CompositeToolRefInvalid: the workflow of trip is not valid: x',
    },
    {
      reason: 'the EmbeddingServer does not exist',
      spec: { embeddingServerRef: { name: 'none' } },
      observed: observe([]),
      type: 'EmbeddingServerReady',
      reported: 'False EmbeddingServerNotFound: EmbeddingServer none does not exist',
    },
    {
      reason: 'the EmbeddingServer has failed',
      spec: { embeddingServerRef: { name: 'sick' } },
      observed: observe([{ kind: 'EmbeddingServer', name: 'sick', status: { phase: 'Failed' } }]),
      type: 'EmbeddingServerReady',
      reported: 'False EmbeddingServerNotReady: EmbeddingServer sick has failed',
    },
    {
      reason: 'the pod template is none',
      spec: { podTemplateSpec: { spec: 1 } },
      observed: observe([], { refusals: [refusal('invalid-pod-template', 'spec must be an object.')] }),
      type: 'PodTemplateSpecValid',
      reported: 'False InvalidPodTemplateSpec: spec must be an object.',
    },
    {
      reason: 'the authorization server cannot be used',
      spec: { authServerConfig: { issuer: 'https://a', upstreamProviders: [], storage: {}, tokenLifespans: {} } },
      observed: observe([], { refusals: [refusal('auth-server-issuer', 'another', '/spec/authServerConfig/issuer')] }),
      type: 'AuthServerConfigValidated',
      reported: 'False AuthServerConfigInvalid: another',
    },
    ...[
      {
        reason: 'the client secret does not exist',
        secrets: [],
        reported: 'False AuthInvalid: Secret login does not exist',
      },
      {
        reason: 'the client secret lacks the key',
        secrets: [{ kind: 'Secret', name: 'login', data: { other: 'eA==' } }],
        reported: 'False AuthInvalid: Secret login has no key secret',
      },
      {
        reason: 'the client secret is there',
        secrets: [{ kind: 'Secret', name: 'login', data: { secret: 'eA==' } }],
        reported: 'True AuthValid: callers need a token',
      },
    ].map(({ reason, secrets, reported }) => {
      const clientSecretRef = { name: 'login', key: 'secret' };
      const oidcConfig = { type: 'inline', inline: { issuer: 'https://login.example.com', clientSecretRef } };
      const spec = { incomingAuth: { type: 'oidc', oidcConfig } };
      return { reason, spec, observed: observe(secrets), type: 'AuthConfigured', reported };
    }),
    {
      reason: 'several servers keep their own sessions',
      spec: { replicas: 2 },
      observed: observe([]),
      type: 'SessionStorageWarning',
      reported:
        'True SessionStorageMissingForReplicas: several servers each keep their own sessions: set sessionStorage to redis, or rely on sessionAffinity',
    },
    {
      reason: 'something is wrong',
      observed: observe([], { refusals: [refusal('a', 'this'), refusal('b', 'that')] }),
      type: 'Valid',
      reported: 'False ValidationFailed: this; that',
    },
  ];

  it.each(rows)('where $reason', ({ spec, observed, type, reported }) => {
    const condition = conditionOf(VirtualMCPServer.status(server(spec), observed), type);
    expect(`${condition?.status} ${condition?.reason}: ${condition?.message}`).toBe(reported);
  });
});
