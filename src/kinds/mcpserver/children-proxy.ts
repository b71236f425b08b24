// The proxy of an MCPServer: its Deployment and Service. Knows nothing about the MCP server behind it.

import { AUTHZ_DIRECTORY, AUTHZ_FILE } from '../../contracts/authz-config.ts';
import { RUN_CONFIG_DIRECTORY, RUN_CONFIG_FILE, SECRET_ENV } from '../../contracts/run-config.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import type { Settings, View } from '../kind.ts';
import { imagePullSecrets, service } from '../shared/generated.ts';
import { withOverrides, workloadLabels } from '../shared/labels.ts';
import type { ResolvedOIDC } from '../shared/oidc-settings.ts';
import {
  CONTAINER_SECURITY,
  type Env,
  envOf,
  httpProbe,
  POD_SECURITY,
  SCRATCH,
  withSurroundings,
} from '../shared/pod.ts';
import { cappedReplicas, childNames, isStdio, proxyPort, type Server } from './facts.ts';
import { PROFILE_DIRECTORY } from './run-config.ts';

export interface ProxyParts {
  readonly oidc: ResolvedOIDC | undefined;
  /** Annotations of the pods: digests of what the proxy reads, so that a change of it starts new pods. */
  readonly podAnnotations: Readonly<Record<string, string>>;
  readonly pullSecrets: readonly string[];
}

/** kinds.md 1.2. The proxy's arguments are ours: see contracts/run-config.ts. */
export function proxyDeployment(self: Server, view: View, settings: Settings, parts: ProxyParts): KubeObject {
  const { name, namespace, spec } = self;
  const names = childNames(name);
  const labels = workloadLabels('mcpserver', name);
  const overrides = spec.resourceOverrides?.proxyDeployment;
  const replicas = proxyReplicas(self, view);
  const podMetadata = withOverrides(
    { labels, annotations: parts.podAnnotations },
    overrides?.podTemplateMetadataOverrides,
  );
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: names.deployment, namespace, ...withOverrides({ labels }, overrides) },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: { matchLabels: labels },
      template: { metadata: podMetadata, spec: proxyPod(self, settings, parts) },
    },
  };
}

/** What the author wants; with stdio one at most, also where others chose the number. */
function proxyReplicas({ name, spec }: Server, view: View): number | undefined {
  if (spec.replicas !== undefined || !isStdio(spec)) return cappedReplicas(spec, spec.replicas);
  const live = view.find('Deployment', childNames(name).deployment)?.spec;
  return isObject(live) && typeof live.replicas === 'number' && live.replicas > 1 ? 1 : undefined;
}

function proxyPod(self: Server, settings: Settings, { oidc, pullSecrets }: ProxyParts): JsonObject {
  const { name, spec } = self;
  const mounted = [...configMounts(self, oidc), SCRATCH];
  return {
    serviceAccountName: childNames(name).proxyAccount,
    automountServiceAccountToken: isStdio(spec) || oidc?.needsToken === true,
    terminationGracePeriodSeconds: 30,
    securityContext: POD_SECURITY,
    ...imagePullSecrets(pullSecrets),
    containers: [
      {
        name: 'toolhive',
        image: settings.images.proxy,
        args: ['proxy', `--config=${RUN_CONFIG_DIRECTORY}/${RUN_CONFIG_FILE}`],
        ports: [{ name: 'http', containerPort: proxyPort(spec), protocol: 'TCP' }],
        env: envOf(withSurroundings(proxyEnv(self, oidc))),
        livenessProbe: httpProbe('/health', 'http', LIVENESS),
        readinessProbe: httpProbe('/health', 'http', READINESS),
        securityContext: CONTAINER_SECURITY,
        volumeMounts: mounted.map(({ mount }) => ({ ...mount })),
      },
    ],
    volumes: mounted.map(({ volume }) => ({ ...volume })),
  };
}

const LIVENESS = { initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };
const READINESS = { initialDelaySeconds: 5, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 };

/** What the proxy gets by its environment; variables that the author gives win. */
function proxyEnv({ name, namespace, spec }: Server, oidc: ResolvedOIDC | undefined): readonly Env[] {
  const { openTelemetry } = spec.telemetry ?? {};
  const { sessionStorage } = spec;
  const service = openTelemetry?.serviceName || name;
  return [
    ...(openTelemetry === undefined
      ? []
      : [{ name: 'OTEL_RESOURCE_ATTRIBUTES', value: `service.name=${service},service.namespace=${namespace}` }]),
    ...(oidc?.env ?? []),
    ...(sessionStorage?.provider === 'redis' && sessionStorage.passwordRef !== undefined
      ? [{ name: SECRET_ENV.sessionRedisPassword, secret: sessionStorage.passwordRef }]
      : []),
    ...(spec.resourceOverrides?.proxyDeployment?.env ?? []),
  ];
}

/** The files that the proxy reads, each out of a ConfigMap. */
function configMounts({ name, spec }: Server, oidc: ResolvedOIDC | undefined) {
  const names = childNames(name);
  const { authzConfig, permissionProfile } = spec;
  const policies = authzConfig?.configMap;
  return [
    mount('runconfig', RUN_CONFIG_DIRECTORY, { name: names.runConfig }),
    ...(permissionProfile?.type === 'configmap'
      ? [mount('permission-profile', PROFILE_DIRECTORY, { name: permissionProfile.name })]
      : []),
    ...(authzConfig === undefined
      ? []
      : [
          mount('authz-config', AUTHZ_DIRECTORY, {
            name: policies?.name ?? names.inlineAuthz,
            items: [{ key: policies?.key ?? AUTHZ_FILE, path: AUTHZ_FILE }],
          }),
        ]),
    ...(oidc?.bundle === undefined
      ? []
      : [mount(oidc.bundle.volume, oidc.bundle.directory, { name: oidc.bundle.configMap })]),
  ];
}

function mount(name: string, mountPath: string, configMap: JsonObject) {
  return { volume: { name, configMap }, mount: { name, mountPath, readOnly: true } };
}

/** kinds.md 1.3. */
export function proxyService(self: Server): KubeObject {
  const { name, namespace, spec } = self;
  const labels = workloadLabels('mcpserver', name);
  const metadata = withOverrides({ labels }, spec.resourceOverrides?.proxyService);
  return service(
    { name: childNames(name).proxyService, namespace, labels, ...metadata },
    {
      selector: labels,
      port: { name: 'http', number: proxyPort(spec) },
      sessionAffinity: spec.sessionAffinity,
    },
  );
}
