// Tests the phase, the conditions and the sync status of an MCPRegistry. In one file, because the functions that build
// the registry, its sources and the observed cluster serve all tests.

import { describe, expect, it } from 'vitest';
import type { CatalogueState, SourceState } from '#contracts/catalogue-state.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Finding, Observed, Resource } from '../kind.ts';
import { MCPRegistry } from './index.ts';

function registry(sources: readonly string[], status?: JsonObject, metadata: object = {}): Resource {
  const registries = sources.map((name) => ({ name, format: 'toolhive', api: { endpoint: 'https://r.example.com' } }));
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPRegistry',
    metadata: { name: 'catalogue', namespace: 'agents', generation: 1, ...metadata },
    spec: { registries, enforceServers: false },
    ...(status === undefined ? {} : { status }),
  };
}

const LATER = '2026-11-21T12:00:00Z';

function source(state: Partial<SourceState> = {}): SourceState {
  return {
    phase: 'Complete',
    message: 'synced',
    attemptCount: 0,
    lastAttempt: '2026-11-21T11:00:00Z',
    lastSyncTime: '2026-11-21T11:00:00Z',
    lastSyncHash: 'aa',
    filterHash: 'ff',
    serverCount: 3,
    rejectedCount: 0,
    ...state,
  };
}

type Api = 'missing' | 'ready' | 'starting' | 'stopped' | 'broken' | 'rolling' | 'stuck';

const GAVE_UP = {
  conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'too long' }],
};

function observe(api: Api, more: Partial<Observed> = {}): Observed {
  const status = {
    missing: {},
    starting: { observedGeneration: 1, replicas: 1, updatedReplicas: 1 },
    stopped: { observedGeneration: 1 },
    ready: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1 },
    broken: { observedGeneration: 1, ...GAVE_UP },
    rolling: { observedGeneration: 1, replicas: 2, updatedReplicas: 1, readyReplicas: 1 },
    stuck: { observedGeneration: 1, replicas: 2, updatedReplicas: 1, readyReplicas: 1, ...GAVE_UP },
  }[api];
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'catalogue-api', generation: 1 },
    spec: { replicas: api === 'stopped' ? 0 : 1 },
    status,
  };
  const found = api === 'missing' ? [] : [deployment];
  return {
    view: {
      find: (kind, name) => found.find((object) => object.kind === kind && object.metadata.name === name),
      all: (kind) => found.filter((object) => object.kind === kind),
    },
    refusals: [],
    failures: [],
    now: LATER,
    ...more,
  };
}

const refusal = (code: string, pointer: string): Finding => ({ code, severity: 'error', pointer, message: 'not so' });

function part(status: JsonObject, field: string): JsonObject {
  const value = status[field];
  return isObject(value) ? value : {};
}

function conditions(status: JsonObject): string {
  const list = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  return list.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`).join(', ');
}

describe('the phase of an MCPRegistry', () => {
  const synced: CatalogueState = { a: source() };
  const rows: { reason: string; resource?: Resource; observed: Observed; reported: string; and: string }[] = [
    {
      reason: 'nothing was made yet',
      observed: observe('missing'),
      reported: 'Pending: API is not ready (NotStarted)',
      and: 'APIReady False APINotReady, Ready False APINotReady',
    },
    {
      reason: 'the service starts',
      observed: observe('starting'),
      reported: 'Pending: API is not ready (Deploying)',
      and: 'APIReady False APINotReady, Ready False APINotReady',
    },
    {
      reason: 'the service was ready before and is not now',
      resource: registry(['a'], { apiStatus: { phase: 'Ready', readySince: '2026-11-01T00:00:00Z' } }),
      observed: observe('starting'),
      reported: 'Pending: API is not ready (Unhealthy)',
      and: 'APIReady False APINotReady, Ready False APINotReady',
    },
    {
      reason: 'the service is scaled to zero',
      observed: observe('stopped'),
      reported: 'Pending: API is not ready (Unhealthy)',
      and: 'APIReady False APINotReady, Ready False ScaledToZero',
    },
    {
      reason: 'Kubernetes gave up on the service',
      observed: observe('broken'),
      reported: 'Failed: API deployment failed: Deployment catalogue-api: too long (Error)',
      and: 'APIReady False DeploymentFailed, Ready False DeploymentFailed',
    },
    {
      reason: 'service and sources are ready',
      observed: observe('ready', { catalogue: synced }),
      reported: 'Ready: Registry is ready and API is serving requests (Ready)',
      and: 'APIReady True APIReady, SyncSuccessful True SyncComplete, Ready True RegistryReady',
    },
    {
      reason: 'nobody has asked the store',
      observed: observe('ready'),
      reported: 'Ready: Registry is ready and API is serving requests (Ready)',
      and: 'APIReady True APIReady, Ready True RegistryReady',
    },
    {
      reason: 'the store failed',
      observed: observe('ready', { storeFailure: 'no answer of db:5432' }),
      reported: 'Failed: the store of the catalogue failed: no answer of db:5432 (Ready)',
      and: 'APIReady True APIReady, SyncSuccessful False SyncFailed, Ready False StoreFailed',
    },
    {
      reason: 'the store failed, so the service does not start',
      observed: observe('starting', { storeFailure: 'no answer of db:5432' }),
      reported: 'Failed: the store of the catalogue failed: no answer of db:5432 (Deploying)',
      and: 'APIReady False APINotReady, SyncSuccessful False SyncFailed, Ready False StoreFailed',
    },
    {
      reason: 'one source was never synced',
      resource: registry(['a', 'b']),
      observed: observe('ready', { catalogue: synced }),
      reported: 'Syncing: API is ready; not synced yet: b (Ready)',
      and: 'APIReady True APIReady, SyncSuccessful Unknown SyncInProgress, Ready False SyncInProgress',
    },
    {
      reason: 'new pods start beside those that serve',
      observed: observe('rolling'),
      reported: 'Ready: Registry is ready; new pods start (Ready)',
      and: 'APIReady True APIReady, Ready False RolloutInProgress',
    },
    {
      reason: 'new pods do not start beside those that serve',
      observed: observe('stuck'),
      reported: 'Ready: Registry is ready; its new pods are not: Deployment catalogue-api: too long (Ready)',
      and: 'APIReady True APIReady, Ready False DeploymentFailed',
    },
    {
      reason: 'a source fails, and its earlier entries are served',
      observed: observe('ready', { catalogue: { a: source({ phase: 'Failed', message: 'unreachable' }) } }),
      reported: 'Ready: serving the entries of the last sync; sync failed: a: unreachable (Ready)',
      and: 'APIReady True APIReady, SyncSuccessful False SyncFailed, Ready True RegistryReady',
    },
    {
      reason: 'a source fails that never worked',
      observed: observe('ready', {
        catalogue: {
          a: { phase: 'Failed', message: 'unreachable', attemptCount: 2, serverCount: 0, rejectedCount: 0 },
        },
      }),
      reported: 'Failed: sync failed: a: unreachable (Ready)',
      and: 'APIReady True APIReady, SyncSuccessful False SyncFailed, Ready False SyncFailed',
    },
    {
      reason: 'the children are held',
      observed: observe('ready', { refusals: [refusal('reference-missing', '/spec/registries/0/configMapRef')] }),
      reported: 'Failed: API deployment failed: not so (Error)',
      and: 'APIReady False DeploymentFailed, Ready False ReferenceMissing',
    },
    {
      reason: 'a password is missing',
      observed: observe('missing', {
        refusals: [refusal('reference-missing', '/spec/databaseConfig/dbAppUserPasswordSecretRef')],
      }),
      reported: 'Failed: API deployment failed: not so (Error)',
      and: 'APIReady False PGPassSecretFailed, Ready False ReferenceMissing',
    },
    {
      reason: 'the pod template is none',
      observed: observe('ready', { refusals: [refusal('invalid-pod-template', '/spec/podTemplateSpec')] }),
      reported: 'Failed: Invalid PodTemplateSpec: not so (Error)',
      and: 'APIReady False DeploymentFailed, Ready False InvalidPodTemplateSpec',
    },
    {
      reason: 'it is going',
      resource: registry(['a'], undefined, { deletionTimestamp: LATER }),
      observed: observe('ready'),
      reported: 'Terminating: MCPRegistry is being terminated (Ready)',
      and: 'APIReady True APIReady, Ready False Terminating',
    },
  ];
  it.each(rows)('is correct when $reason', ({ resource = registry(['a']), observed, reported, and }) => {
    const status = MCPRegistry.status(resource, observed);
    expect(`${status.phase}: ${status.message} (${part(status, 'apiStatus').phase})`).toBe(reported);
    expect(conditions(status)).toBe(and);
  });

  it('keeps the time since when the service is ready, and drops it when the service is not ready', () => {
    const first = MCPRegistry.status(registry(['a']), observe('ready'));
    expect(part(first, 'apiStatus').readySince).toBe(LATER);
    const second = MCPRegistry.status(registry(['a'], first), observe('ready', { now: '2026-11-22T00:00:00Z' }));
    expect(part(second, 'apiStatus').readySince).toBe(LATER);
    const third = MCPRegistry.status(registry(['a'], second), observe('starting'));
    expect(part(third, 'apiStatus').readySince).toBeUndefined();
  });
});

describe('the sync status of an MCPRegistry', () => {
  it('is the status of the source if the registry has one source', () => {
    const status = MCPRegistry.status(
      registry(['a']),
      observe('ready', { catalogue: { a: source({ trigger: 't1' }) } }),
    );
    expect(status.syncStatus).toEqual({
      phase: 'Complete',
      message: 'synced: a',
      lastAttempt: '2026-11-21T11:00:00Z',
      attemptCount: 0,
      lastSyncTime: '2026-11-21T11:00:00Z',
      lastSyncHash: 'aa',
      serverCount: 3,
    });
    expect([status.lastAppliedFilterHash, status.lastManualSyncTrigger]).toEqual(['ff', 't1']);
  });

  it('combines all sources: sums, latest times, one hash, and the worst phase', () => {
    const catalogue = {
      a: source({ rejectedCount: 2 }),
      b: source({ phase: 'Failed', message: 'no JSON', attemptCount: 4, lastAttempt: LATER, serverCount: 5 }),
    };
    const status = MCPRegistry.status(registry(['a', 'b']), observe('ready', { catalogue }));
    const { lastSyncHash, ...rest } = part(status, 'syncStatus');
    expect(rest).toEqual({
      phase: 'Failed',
      message: 'b: no JSON',
      lastAttempt: LATER,
      attemptCount: 4,
      lastSyncTime: '2026-11-21T11:00:00Z',
      serverCount: 8,
    });
    expect(lastSyncHash).toMatch(/^[0-9a-f]{64}$/);
    const other = { ...catalogue, a: source({ lastSyncHash: 'bb' }) };
    const changed = MCPRegistry.status(registry(['a', 'b']), observe('ready', { catalogue: other }));
    expect(part(changed, 'syncStatus').lastSyncHash).not.toBe(lastSyncHash);
  });

  it('says how many entries were left out', () => {
    const catalogue = { a: source({ rejectedCount: 2 }) };
    const status = MCPRegistry.status(registry(['a']), observe('ready', { catalogue }));
    expect(part(status, 'syncStatus').message).toBe('synced: a; a: 2 invalid entries left out');
  });

  it('reports a trigger as carried out after every source has carried it out', () => {
    const catalogue = { a: source({ trigger: 't2' }), b: source({ trigger: 't1' }) };
    const before = { lastManualSyncTrigger: 't1' };
    const status = MCPRegistry.status(registry(['a', 'b'], before), observe('ready', { catalogue }));
    expect(status.lastManualSyncTrigger).toBe('t1');
  });

  it('says why the store failed, and keeps the previous state', () => {
    const catalogue = { a: source({ trigger: 't' }) };
    const before = MCPRegistry.status(registry(['a']), observe('ready', { catalogue }));
    const failed = MCPRegistry.status(registry(['a'], before), observe('ready', { storeFailure: 'no answer' }));
    const { phase, message, ...kept } = part(failed, 'syncStatus');
    expect([phase, message]).toEqual(['Failed', 'no answer']);
    expect({ ...kept, phase: 'Complete', message: 'synced: a' }).toEqual(part(before, 'syncStatus'));
    expect(failed.lastManualSyncTrigger).toBe('t');
    const after = MCPRegistry.status(registry(['a'], failed), observe('ready', { catalogue }));
    expect(part(after, 'syncStatus')).toEqual(part(before, 'syncStatus'));
  });

  it('does not change if the store was not read', () => {
    const before = MCPRegistry.status(
      registry(['a']),
      observe('ready', { catalogue: { a: source({ trigger: 't' }) } }),
    );
    const after = MCPRegistry.status(registry(['a'], before), observe('ready'));
    expect(after).toEqual(before);
  });

  it('does not change for five minutes if syncs find nothing new', () => {
    const at = (time: string) => ({ catalogue: { a: source({ lastAttempt: time, lastSyncTime: time }) } });
    const before = MCPRegistry.status(registry(['a']), observe('ready', at('2026-11-21T11:00:00Z')));
    const soon = MCPRegistry.status(registry(['a'], before), observe('ready', at('2026-11-21T11:04:59Z')));
    expect(soon).toEqual(before);
    const late = MCPRegistry.status(registry(['a'], before), observe('ready', at('2026-11-21T11:05:00Z')));
    expect(part(late, 'syncStatus').lastAttempt).toBe('2026-11-21T11:05:00Z');
  });

  it('changes at once if a sync finds changes', () => {
    const before = MCPRegistry.status(registry(['a']), observe('ready', { catalogue: { a: source() } }));
    const found = { a: source({ lastAttempt: '2026-11-21T11:00:10Z', lastSyncHash: 'bb', serverCount: 4 }) };
    const after = MCPRegistry.status(registry(['a'], before), observe('ready', { catalogue: found }));
    expect(part(after, 'syncStatus')).toMatchObject({ lastAttempt: '2026-11-21T11:00:10Z', serverCount: 4 });
  });
});
