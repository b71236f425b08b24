// Tests phases, messages and conditions of an MCPServer for states of its workloads. In one file, because every case
// changes the same server.

import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Finding, Observed, Resource, View } from '../kind.ts';
import { MCPServer } from './index.ts';

const SPEC = {
  image: 'example.com/weather:1',
  transport: 'sse',
  proxyMode: 'streamable-http',
  port: 8080,
  proxyPort: 8080,
  trustProxyHeaders: false,
  sessionAffinity: 'ClientIP',
};

function server(spec: JsonObject = {}, metadata: object = {}, status?: JsonObject): Resource {
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPServer',
    metadata: { name: 'weather', namespace: 'agents', generation: 4, ...metadata },
    spec: { ...SPEC, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

interface Live {
  readonly kind: string;
  readonly name?: string;
  readonly [field: string]: unknown;
}

function viewOf(objects: readonly Live[]): View {
  const named = objects.map(({ kind, name = 'weather', ...rest }) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, generation: 2 },
    ...(rest as JsonObject),
  }));
  return {
    find: (kind, name) => named.find((object) => object.kind === kind && object.metadata.name === name),
    all: (kind) => named.filter((object) => object.kind === kind),
  };
}

const complete = (replicas: number) => ({
  spec: { replicas },
  status: { observedGeneration: 2, replicas, updatedReplicas: replicas, readyReplicas: replicas },
});
const RUNNING: readonly Live[] = [
  { kind: 'Deployment', ...complete(2) },
  { kind: 'StatefulSet', ...complete(1) },
];
const POOL = server({ transport: 'stdio' }, { annotations: { 'skep.dev/stdio-sharing': 'perSession' } });
const RENEWING: Live = {
  ...{ kind: 'StatefulSet', ...complete(1) },
  status: { ...complete(1).status, readyReplicas: 0, currentRevision: 'weather-1', updateRevision: 'weather-1' },
};
const SLEEPER = server({}, { annotations: { 'skep.dev/sleep-after': '15m' } });
const ASLEEP: Live = { kind: 'StatefulSet', spec: { replicas: 0 }, status: { observedGeneration: 2 } };

const refusal = (code: string, message: string): Finding => ({ code, severity: 'error', pointer: '/spec', message });

function observe(live: readonly Live[], more: Partial<Observed> = {}): Observed {
  return { view: viewOf(live), refusals: [], failures: [], now: '2026-11-21T12:00:00Z', ...more };
}

function conditionOf(status: JsonObject, type: string): JsonObject {
  const found = Array.isArray(status.conditions)
    ? status.conditions.find((each) => isObject(each) && each.type === type)
    : undefined;
  return isObject(found) ? found : {};
}

describe('the phase of an MCPServer', () => {
  const rows: { reason: string; resource?: Resource; observed: Observed; reported: string }[] = [
    {
      reason: 'nothing was made yet',
      observed: observe([]),
      reported: 'Pending, MCP server is being created, not ready: WorkloadsMissing, 0 proxies',
    },
    {
      reason: 'the proxy is ready, the server behind it does not exist',
      observed: observe([RUNNING[0]!]),
      reported: 'Pending, MCP server is being created, not ready: WorkloadsMissing, 2 proxies',
    },
    {
      reason: 'everything is ready',
      observed: observe(RUNNING),
      reported: 'Running, MCP server is running, ready: WorkloadsReady, 2 proxies',
    },
    {
      reason: 'the server behind the proxy is not ready',
      observed: observe([
        RUNNING[0]!,
        { kind: 'StatefulSet', spec: { replicas: 1 }, status: { observedGeneration: 2 } },
      ]),
      reported:
        'Pending, MCP server is starting: no pod of the server is ready. If this lasts, its events have the reason: kubectl -n agents describe pod weather-0, not ready: WorkloadsNotReady, 2 proxies',
    },
    {
      reason: 'the controller has not seen the newest generation, so its numbers are about an older one',
      observed: observe([
        { kind: 'Deployment', ...complete(2), status: { ...complete(2).status, observedGeneration: 1 } },
        RUNNING[1]!,
      ]),
      reported: 'Running, MCP server is running, not ready: RolloutInProgress, 2 proxies',
    },
    {
      reason: 'older pods are still there',
      observed: observe([
        { kind: 'Deployment', ...complete(2), status: { ...complete(2).status, replicas: 3 } },
        RUNNING[1]!,
      ]),
      reported: 'Running, MCP server is running, not ready: RolloutInProgress, 2 proxies',
    },
    {
      reason: 'the last pod of the server is still an older one',
      observed: observe([
        RUNNING[0]!,
        {
          kind: 'StatefulSet',
          ...complete(1),
          status: { ...complete(1).status, currentRevision: 'weather-1', updateRevision: 'weather-2' },
        },
      ]),
      reported: 'Running, MCP server is running, not ready: RolloutInProgress, 2 proxies',
    },
    {
      reason: 'a pod that served a session is being replaced',
      resource: POOL,
      observed: observe([RUNNING[0]!, RENEWING]),
      reported: 'Running, MCP server is running, ready: WorkloadsReady, 2 proxies',
    },
    {
      reason: 'its proxy does not reach the server, whose pod is ready',
      observed: observe([
        { kind: 'Deployment', ...complete(2), status: { ...complete(2).status, readyReplicas: 0 } },
        RUNNING[1]!,
      ]),
      reported:
        'Pending, MCP server is starting: its proxy is not ready. If this lasts, its log has the reason: kubectl -n agents logs deployment/weather, not ready: WorkloadsNotReady, 0 proxies',
    },
    {
      reason: 'no process of a pool has been reached yet',
      resource: POOL,
      observed: observe([
        { kind: 'Deployment', ...complete(2), status: { ...complete(2).status, readyReplicas: 0 } },
        RENEWING,
      ]),
      reported:
        'Pending, MCP server is starting: no pod of the server is ready. If this lasts, its events have the reason: kubectl -n agents describe pod weather-0, not ready: WorkloadsNotReady, 0 proxies',
    },
    {
      reason: 'somebody scaled the proxy to zero',
      observed: observe([
        { kind: 'Deployment', spec: { replicas: 0 }, status: { observedGeneration: 2 } },
        RUNNING[1]!,
      ]),
      reported: 'Stopped, MCP server is stopped (scaled to zero), not ready: ScaledToZero, 0 proxies',
    },
    {
      reason: 'no client uses it, so it sleeps',
      resource: SLEEPER,
      observed: observe([RUNNING[0]!, ASLEEP]),
      reported: 'Running, MCP server is sleeping: the next call starts it, ready: Sleeping, 2 proxies',
    },
    {
      reason: 'it sleeps, and its proxy is replaced',
      resource: SLEEPER,
      observed: observe([
        { kind: 'Deployment', ...complete(2), status: { ...complete(2).status, observedGeneration: 1 } },
        ASLEEP,
      ]),
      reported: 'Running, MCP server is sleeping: the next call starts it, not ready: RolloutInProgress, 2 proxies',
    },
    {
      reason: 'it sleeps, and its proxy is not ready',
      resource: SLEEPER,
      observed: observe([{ kind: 'Deployment', spec: { replicas: 1 }, status: { observedGeneration: 2 } }, ASLEEP]),
      reported:
        'Pending, MCP server is sleeping, and its proxy is not ready. If this lasts, its log has the reason: kubectl -n agents logs deployment/weather, not ready: WorkloadsNotReady, 0 proxies',
    },
    {
      reason: 'it sleeps, and somebody scaled its proxy to zero, so that no call starts it',
      resource: SLEEPER,
      observed: observe([{ kind: 'Deployment', spec: { replicas: 0 }, status: { observedGeneration: 2 } }, ASLEEP]),
      reported: 'Stopped, MCP server is stopped (its proxy is scaled to zero), not ready: ScaledToZero, 0 proxies',
    },
    {
      reason: 'it never sleeps, and somebody scaled it to zero',
      observed: observe([RUNNING[0]!, ASLEEP]),
      reported: 'Stopped, MCP server is stopped (scaled to zero), not ready: ScaledToZero, 2 proxies',
    },
    {
      reason: 'Kubernetes gave up on the proxy',
      observed: observe([
        {
          kind: 'Deployment',
          spec: { replicas: 1 },
          status: {
            observedGeneration: 2,
            conditions: [
              { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'took too long' },
            ],
          },
        },
        RUNNING[1]!,
      ]),
      reported:
        'Failed, MCP server pod failed: Deployment weather: took too long, not ready: WorkloadsFailed, 0 proxies',
    },
    {
      reason: 'Kubernetes may not make the pods',
      observed: observe([
        RUNNING[0]!,
        {
          kind: 'StatefulSet',
          status: {
            observedGeneration: 2,
            conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' }],
          },
        },
      ]),
      reported: 'Failed, MCP server pod failed: StatefulSet weather: quota, not ready: WorkloadsFailed, 2 proxies',
    },
    {
      reason: 'the children are held, though those of before run',
      observed: observe(RUNNING, { refusals: [refusal('reference-missing', 'no MCPGroup "x"')] }),
      reported: 'Failed, no MCPGroup "x", not ready: ReferenceMissing, 2 proxies',
    },
    {
      reason: 'the pod template is none',
      observed: observe(RUNNING, { refusals: [refusal('invalid-pod-template', 'spec must be an object.')] }),
      reported:
        'Failed, Invalid PodTemplateSpec: spec must be an object., not ready: InvalidPodTemplateSpec, 2 proxies',
    },
    {
      reason: 'a child was refused by the cluster',
      observed: observe(RUNNING, { failures: ['Service mcp-weather: port is taken'] }),
      reported: 'Failed, Service mcp-weather: port is taken, not ready: ChildrenFailed, 2 proxies',
    },
    {
      reason: 'it is going, whatever else is wrong',
      resource: server({}, { deletionTimestamp: '2026-11-21T11:00:00Z' }),
      observed: observe(RUNNING, { failures: ['something'] }),
      reported: 'Terminating, MCP server is being terminated, not ready: Terminating, 2 proxies',
    },
  ];
  it.each(rows)('is correct when $reason', ({ resource = server(), observed, reported }) => {
    const status = MCPServer.status(resource, observed);
    const ready = conditionOf(status, 'Ready');
    const readiness = `${ready.status === 'True' ? 'ready' : 'not ready'}: ${ready.reason}`;
    expect(`${status.phase}, ${status.message}, ${readiness}, ${status.readyReplicas} proxies`).toBe(reported);
  });
});

describe('the conditions of an MCPServer', () => {
  const group = (phase: string) => ({ kind: 'MCPGroup', name: 'tools', status: { phase } });
  const bundle = {
    type: 'inline',
    inline: { issuer: 'https://i', caBundleRef: { configMapRef: { name: 'ca', key: 'k' } } },
  };
  const image = (code: string) => ({ refusals: [refusal(code, 'not there')] });
  const rows: { type: string; is: string; spec?: JsonObject; live?: readonly Live[]; more?: Partial<Observed> }[] = [
    { type: 'GroupRefValidated', is: 'absent', spec: {} },
    { type: 'GroupRefValidated', is: 'False GroupRefNotFound', spec: { groupRef: 'tools' } },
    { type: 'GroupRefValidated', is: 'True GroupRefIsValid', spec: { groupRef: 'tools' }, live: [group('Pending')] },
    { type: 'GroupRefValidated', is: 'False GroupRefNotReady', spec: { groupRef: 'tools' }, live: [group('Failed')] },
    { type: 'CABundleRefValidated', is: 'absent' },
    { type: 'CABundleRefValidated', is: 'False CABundleRefNotFound', spec: { oidcConfig: bundle } },
    {
      type: 'CABundleRefValidated',
      is: 'False CABundleRefInvalid',
      spec: { oidcConfig: bundle },
      live: [{ kind: 'ConfigMap', name: 'ca', data: { other: '' } }],
    },
    {
      type: 'CABundleRefValidated',
      is: 'True CABundleRefValid',
      spec: { oidcConfig: bundle },
      live: [{ kind: 'ConfigMap', name: 'ca', data: { k: '' } }],
    },
    { type: 'StdioReplicaCapped', is: 'False StdioReplicaCapNotActive', spec: { replicas: 3 } },
    { type: 'StdioReplicaCapped', is: 'False StdioReplicaCapNotActive', spec: { transport: 'stdio', replicas: 1 } },
    { type: 'StdioReplicaCapped', is: 'True StdioTransportCapAt1', spec: { transport: 'stdio', replicas: 2 } },
    { type: 'StdioReplicaCapped', is: 'True StdioTransportCapAt1', spec: { transport: 'stdio', backendReplicas: 2 } },
    { type: 'SessionStorageWarning', is: 'False SessionStorageWarningNotApplicable', spec: { replicas: 1 } },
    { type: 'SessionStorageWarning', is: 'True SessionStorageMissingForReplicas', spec: { replicas: 2 } },
    {
      type: 'SessionStorageWarning',
      is: 'True SessionStorageMissingForReplicas',
      spec: { replicas: 2, sessionStorage: { provider: 'memory', db: 0 } },
    },
    {
      type: 'SessionStorageWarning',
      is: 'False SessionStorageConfigured',
      spec: { replicas: 2, sessionStorage: { provider: 'redis', address: 'r:1', db: 0 } },
    },
    { type: 'PodTemplateValid', is: 'absent' },
    { type: 'PodTemplateValid', is: 'True ValidPodTemplateSpec', spec: { podTemplateSpec: {} } },
    {
      type: 'PodTemplateValid',
      is: 'False InvalidPodTemplateSpec',
      spec: { podTemplateSpec: {} },
      more: { refusals: [refusal('invalid-pod-template', 'no')] },
    },
    { type: 'ImageValidated', is: 'True ImageValidationSkipped' },
    {
      type: 'ImageValidated',
      is: 'True ImageValidationSuccess',
      live: [{ kind: 'MCPRegistry', name: 'r', spec: { enforceServers: true } }],
    },
    { type: 'ImageValidated', is: 'False ImageValidationFailed', more: image('image-not-enforced') },
    { type: 'ImageValidated', is: 'False ImageValidationError', more: image('image-unknown') },
  ];
  it.each(rows)('say $type: $is', ({ type, is, spec = {}, live = [], more = {} }) => {
    const found = conditionOf(MCPServer.status(server(spec), observe(live, more)), type);
    expect(found.type === undefined ? 'absent' : `${found.status} ${found.reason}`).toBe(is);
  });

  it('keep their transition time while their status is unchanged, and get a new time when it changes', () => {
    const before = {
      conditions: [
        { type: 'Ready', status: 'False', reason: 'X', message: 'x', lastTransitionTime: '2026-11-01T00:00:00Z' },
        {
          type: 'ImageValidated',
          status: 'True',
          reason: 'X',
          message: 'x',
          lastTransitionTime: '2026-11-02T00:00:00Z',
        },
        { type: 'Ours no more', status: 'True', reason: 'X', message: 'x', lastTransitionTime: '2026-11-03T00:00:00Z' },
      ],
    };
    const status = MCPServer.status(server({}, {}, before), observe(RUNNING));
    expect(conditionOf(status, 'Ready').lastTransitionTime).toBe('2026-11-21T12:00:00Z');
    expect(conditionOf(status, 'ImageValidated').lastTransitionTime).toBe('2026-11-02T00:00:00Z');
    expect(conditionOf(status, 'Ours no more')).toEqual({});
  });

  it('are equal for equal input, so that the reconciler writes nothing twice', () => {
    const first = MCPServer.status(server({ groupRef: 'tools' }), observe([...RUNNING, group('Ready')]));
    const later = observe([...RUNNING, group('Ready')], { now: '2026-11-21T13:00:00Z' });
    expect(MCPServer.status(server({ groupRef: 'tools' }, {}, first), later)).toEqual(first);
  });
});

describe('the URL of an MCPServer', () => {
  const rows: { spec: JsonObject; url: string; reason: string }[] = [
    { reason: 'sse has its own path and the name', spec: {}, url: ':8080/sse#weather' },
    { reason: 'streamable http', spec: { transport: 'streamable-http' }, url: ':8080/mcp' },
    { reason: 'standard streams are offered as proxyMode says', spec: { transport: 'stdio' }, url: ':8080/mcp' },
    { reason: 'the same, as sse', spec: { transport: 'stdio', proxyMode: 'sse' }, url: ':8080/sse#weather' },
    {
      reason: 'proxyMode means nothing elsewhere',
      spec: { transport: 'streamable-http', proxyMode: 'sse' },
      url: ':8080/mcp',
    },
    {
      reason: 'the older field counts while the newer one has its default',
      spec: { port: 9000 },
      url: ':9000/sse#weather',
    },
    { reason: 'the newer field wins', spec: { port: 9000, proxyPort: 9001 }, url: ':9001/sse#weather' },
  ];
  it.each(rows)('$url: $reason', ({ spec, url }) => {
    // The status replaces an existing URL, which may contain an older port.
    const before = server(spec, {}, { url: 'http://old:1/mcp' });
    expect(MCPServer.status(before, observe([])).url).toBe(`http://mcp-weather-proxy.agents.svc.cluster.local${url}`);
  });
});
