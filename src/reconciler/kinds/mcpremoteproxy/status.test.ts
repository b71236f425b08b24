import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Finding, Observed, Resource, View } from '../kind.ts';
import { MCPRemoteProxy } from './index.ts';

const SPEC = {
  remoteURL: 'https://mcp.example.com/mcp',
  port: 8080,
  proxyPort: 8080,
  transport: 'streamable-http',
  oidcConfig: { type: 'kubernetes' },
  trustProxyHeaders: false,
  sessionAffinity: 'ClientIP',
};

function proxy(spec: JsonObject = {}, metadata: object = {}): Resource {
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPRemoteProxy',
    metadata: { name: 'almanac', namespace: 'agents', generation: 4, ...metadata },
    spec: { ...SPEC, ...spec },
  };
}

interface Live {
  readonly kind: string;
  readonly name?: string;
  readonly metadata?: object;
  readonly [field: string]: unknown;
}

function viewOf(objects: readonly Live[]): View {
  const named = objects.map(({ kind, name = 'almanac', metadata, ...rest }) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, generation: 2, ...metadata },
    ...(rest as JsonObject),
  }));
  return {
    find: (kind, name) => named.find((object) => object.kind === kind && object.metadata.name === name),
    all: (kind) => named.filter((object) => object.kind === kind),
  };
}

function observe(live: readonly Live[], more: Partial<Observed> = {}): Observed {
  return { view: viewOf(live), refusals: [], failures: [], now: '2026-11-21T12:00:00Z', ...more };
}

function deployment(status: JsonObject, replicas = 1): Live {
  return { kind: 'Deployment', spec: { replicas }, status: { observedGeneration: 2, ...status } };
}

const READY = deployment({ replicas: 1, updatedReplicas: 1, readyReplicas: 1 });
const GIVEN_UP = {
  type: 'Progressing',
  status: 'False',
  reason: 'ProgressDeadlineExceeded',
  message: 'it took too long',
};

function refusal(code: string, pointer: string, message = code): Finding {
  return { code, severity: 'error', pointer, message };
}

function conditions(status: JsonObject): string[] {
  const list = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  return list.map(({ type, status: holds, reason }) => `${type} ${holds} ${reason}`);
}

describe('the phase of an MCPRemoteProxy', () => {
  const rows: { reason: string; resource?: Resource; observed: Observed; reported: string }[] = [
    {
      reason: 'nothing was made yet',
      observed: observe([]),
      reported: 'Pending, No pods found for remote proxy, Ready False DeploymentNotReady',
    },
    {
      reason: 'everything is ready',
      observed: observe([READY]),
      reported: 'Ready, Remote proxy is running, Ready True DeploymentReady',
    },
    {
      reason: 'no pod is ready yet',
      observed: observe([deployment({ replicas: 1, updatedReplicas: 1 })]),
      reported:
        'Pending, Remote proxy is starting. If this lasts, its log has the reason: kubectl -n agents logs deployment/almanac, Ready False DeploymentNotReady',
    },
    {
      reason: 'an older pod serves while the new one starts',
      observed: observe([deployment({ replicas: 2, updatedReplicas: 1, readyReplicas: 1 })]),
      reported: 'Ready, Remote proxy is running, Ready False DeploymentNotReady',
    },
    {
      reason: 'another controller scaled it to zero, which is not a failure',
      observed: observe([deployment({}, 0)]),
      reported: 'Pending, No pods found for remote proxy, Ready False ScaledToZero',
    },
    {
      reason: 'Kubernetes gave up',
      observed: observe([deployment({ replicas: 1, conditions: [GIVEN_UP] })]),
      reported:
        'Failed, Remote proxy failed to start: Deployment almanac: it took too long, Ready False DeploymentNotReady',
    },
    {
      reason: 'Kubernetes gave up on the new pods, the old ones still serve',
      observed: observe([deployment({ replicas: 2, readyReplicas: 1, conditions: [GIVEN_UP] })]),
      reported:
        'Ready, Remote proxy failed to start: Deployment almanac: it took too long, Ready False DeploymentNotReady',
    },
    {
      reason: 'its configuration is refused, whatever lives',
      observed: observe([READY], { refusals: [refusal('jwks-url-invalid', '/spec/oidcConfig/inline/jwksUrl')] }),
      reported: 'Failed, Validation failed: jwks-url-invalid, Ready False JWKSURLInvalid',
    },
    {
      reason: 'the problem is not its configuration',
      observed: observe([READY], { refusals: [refusal('child-collision', '/metadata/name', 'taken')] }),
      reported: 'Failed, taken, Ready False ChildCollision',
    },
    {
      reason: 'a child could not be written',
      observed: observe([READY], { failures: ['Service: denied'] }),
      reported: 'Failed, Service: denied, Ready False ChildrenFailed',
    },
    {
      reason: 'it is being deleted, whatever else is wrong',
      resource: proxy({}, { deletionTimestamp: '2026-11-21T11:00:00Z' }),
      observed: observe([READY], { failures: ['Service: denied'] }),
      reported: 'Terminating, Remote proxy is being terminated, Ready False Terminating',
    },
  ];

  it.each(rows)('$reason', ({ resource = proxy(), observed, reported }) => {
    const status = MCPRemoteProxy.status(resource, observed);
    expect(`${status.phase}, ${status.message}, ${conditions(status).at(-1)}`).toBe(reported);
    expect(status.observedGeneration).toBe(4);
  });
});

describe('the conditions of an MCPRemoteProxy', () => {
  const rows: { reason: string; spec?: JsonObject; live?: Live[]; refusals?: Finding[]; reported: string[] }[] = [
    {
      reason: 'a valid one has no AuthConfigured',
      reported: ['ConfigurationValid True ConfigurationValid'],
    },
    {
      reason: 'the first failed check gives the reason',
      refusals: [
        refusal('reference-missing', '/spec/headerForward/addHeadersFromSecret/0/valueSecretRef'),
        refusal('oidc-issuer-insecure', '/spec/oidcConfig/inline/issuer'),
      ],
      reported: ['ConfigurationValid False OIDCIssuerInsecure', 'AuthConfigured False AuthInvalid'],
    },
    ...[
      ['remote-url-invalid', '/spec/remoteURL', 'RemoteURLInvalid'],
      ['oidc-issuer-invalid', '/spec/oidcConfig/inline/issuer', 'OIDCIssuerInvalid'],
      ['oidc-config-invalid', '/spec/oidcConfig/configMap', 'OIDCIssuerInvalid'],
      ['jwks-url-invalid', '/spec/oidcConfig/inline/jwksUrl', 'JWKSURLInvalid'],
      ['authz-policy-invalid', '/spec/authzConfig/inline/policies/0', 'AuthzPolicySyntaxInvalid'],
      ['reference-missing', '/spec/authzConfig/configMap', 'AuthzConfigMapNotFound'],
      ['reference-key-missing', '/spec/headerForward/addHeadersFromSecret/0/valueSecretRef', 'HeaderSecretNotFound'],
      ['header-restricted', '/spec/headerForward/addPlaintextHeaders/Host', 'HeaderForwardInvalid'],
    ].map(([code = '', pointer = '', reason = '']) => ({
      reason: `${code} at ${pointer}`,
      refusals: [refusal(code, pointer)],
      reported: [`ConfigurationValid False ${reason}`, 'AuthConfigured False AuthInvalid'],
    })),
    {
      reason: 'an external authentication that is not there is a matter of configuration, too',
      spec: { externalAuthConfigRef: { name: 'upstream' } },
      refusals: [refusal('reference-missing', '/spec/externalAuthConfigRef/name')],
      reported: [
        'ConfigurationValid False ExternalAuthConfigNotFound',
        'AuthConfigured False AuthInvalid',
        'ExternalAuthConfigValidated False ExternalAuthConfigNotFound',
      ],
    },
    {
      reason: 'one that nobody could look for',
      spec: { externalAuthConfigRef: { name: 'upstream' } },
      refusals: [refusal('reference-unknown', '/spec/externalAuthConfigRef/name')],
      reported: [
        'ConfigurationValid False ExternalAuthConfigFetchError',
        'AuthConfigured False AuthInvalid',
        'ExternalAuthConfigValidated False ExternalAuthConfigFetchError',
      ],
    },
    {
      reason: 'a group and tools that are not there have conditions of their own',
      spec: { groupRef: 'tools', toolConfigRef: { name: 'tools' } },
      refusals: [
        refusal('reference-missing', '/spec/groupRef'),
        refusal('reference-missing', '/spec/toolConfigRef/name'),
      ],
      reported: [
        'ConfigurationValid True ConfigurationValid',
        'GroupRefValidated False GroupRefNotFound',
        'ToolConfigValidated False ToolConfigNotFound',
      ],
    },
    {
      reason: 'a group that is being deleted counts for one that is gone',
      spec: { groupRef: 'tools' },
      live: [{ kind: 'MCPGroup', name: 'tools', metadata: { deletionTimestamp: '2026-11-21T11:00:00Z' } }],
      reported: ['ConfigurationValid True ConfigurationValid', 'GroupRefValidated False GroupRefNotFound'],
    },
    {
      reason: 'all that it names is there',
      spec: { groupRef: 'tools', toolConfigRef: { name: 'tools' }, externalAuthConfigRef: { name: 'upstream' } },
      live: [{ kind: 'MCPGroup', name: 'tools' }],
      reported: [
        'ConfigurationValid True ConfigurationValid',
        'GroupRefValidated True GroupRefIsValid',
        'ToolConfigValidated True ToolConfigValid',
        'ExternalAuthConfigValidated True ExternalAuthConfigValid',
      ],
    },
  ];

  it.each(rows)('$reason', ({ spec = {}, live = [], refusals = [], reported }) => {
    const status = MCPRemoteProxy.status(proxy(spec), observe([READY, ...live], { refusals }));
    expect(conditions(status).slice(0, -1)).toEqual(reported);
  });
});

it('copies the digests of its references, and reports its URLs', () => {
  const live = [
    { kind: 'MCPToolConfig', name: 'tools', status: { configHash: 'a1' } },
    { kind: 'MCPExternalAuthConfig', name: 'upstream', status: { configHash: 'b2' } },
  ];
  const spec = {
    toolConfigRef: { name: 'tools' },
    externalAuthConfigRef: { name: 'upstream' },
    oidcConfig: { type: 'kubernetes', resourceUrl: 'https://almanac.example.com' },
    proxyPort: 9000,
  };
  expect(MCPRemoteProxy.status(proxy(spec), observe(live))).toMatchObject({
    toolConfigHash: 'a1',
    externalAuthConfigHash: 'b2',
    url: 'http://mcp-almanac-remote-proxy.agents.svc.cluster.local:9000',
    externalURL: 'https://almanac.example.com',
  });
});
