// Renders the children of a VirtualMCPServer: a service account, a ConfigMap with the configuration, a Deployment, a
// Service and a generated Secret.

import { ownMetricsPort } from '#contracts/virtual/observability.ts';
import {
  formatVmcpConfig,
  VMCP_CONFIG_DIRECTORY,
  VMCP_CONFIG_FILE,
  VMCP_ENV,
  type VmcpConfig,
} from '#contracts/vmcp-config.ts';
import { virtualReadAtStart } from '#contracts/vmcp-config-keys.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { digest } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import { mountedBundles } from '../auth/ca-bundle.ts';
import { configMap, imagePullSecrets, service } from '../generated.ts';
import type { GeneratedSecret, KindSettings, View } from '../kind.ts';
import { LABEL_DOMAIN, workloadLabels } from '../labels.ts';
import {
  CONTAINER_SECURITY,
  ENDING,
  type Env,
  envOf,
  httpProbe,
  mountedConfigMap,
  POD_SECURITY,
  SCRATCH,
  secretsOf,
  withSurroundings,
} from '../pods/pod.ts';
import { hasOwnHook, podTemplateHash, withPodTemplate } from '../pods/pod-template.ts';
import { pullSecretNames } from '../pods/pull-secrets.ts';
import { secretChecksum } from '../pods/secret-checksum.ts';
import { desiredReplicas, disruptionBudget } from '../proxy/disruption.ts';
import { collectorBundle } from '../proxy/proxy.ts';
import { sessionPassword } from '../proxy/session-password.ts';
import { backendsReport } from '../tools-lock.ts';
import { reportingAccount } from './account.ts';
import { vmcpConfig } from './config.ts';
import { HMAC_KEY, PORT, type VirtualServer, virtualServerChildNames } from './facts.ts';
import { collectorHeaderVariables, type Needs, needsOf } from './needs.ts';

export function children(self: VirtualServer, view: View, settings: KindSettings): readonly KubeObject[] {
  const needs = needsOf(self, view);
  const config = vmcpConfig(self, needs, view);
  return [
    ...reportingAccount(self, config, settings),
    configObject(self, config, settings.apiGroup),
    ...(self.spec.serviceAccount === undefined ? backendsReport(self, config.backends) : []),
    deployment(self, needs, settings, checksums(self, needs, config, view, settings)),
    frontService(self),
    ...disruption(self, view),
  ];
}

/**
 * Returns the Secret with the key that binds sessions to the callers who opened them. The key is random, because anyone
 * with the key can take over any session.
 */
export function generated({ name, namespace }: VirtualServer, { apiGroup }: KindSettings): readonly GeneratedSecret[] {
  const metadata = {
    name: virtualServerChildNames(name).hmac,
    namespace,
    labels: {
      'app.kubernetes.io/name': 'virtualmcpserver',
      'app.kubernetes.io/instance': name,
      'app.kubernetes.io/component': 'session-security',
      'app.kubernetes.io/managed-by': 'toolhive-operator',
    },
    annotations: { [`${apiGroup}/purpose`]: 'hmac-secret-for-session-token-binding' },
  };
  const object = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' };
  return [{ object, random: { [HMAC_KEY]: HMAC_BYTES } }];
}

const HMAC_BYTES = 32;

function metricsPorts({ config }: VirtualServer['spec']) {
  const port = config.telemetry && ownMetricsPort(config.telemetry);
  return port === undefined ? [] : [{ name: 'metrics', containerPort: port, protocol: 'TCP' }];
}

function configObject({ name, namespace }: VirtualServer, config: VmcpConfig, apiGroup: string): KubeObject {
  const labels = {
    [`${LABEL_DOMAIN}/component`]: 'vmcp-config',
    [`${LABEL_DOMAIN}/virtual-mcp-server`]: name,
    [`${LABEL_DOMAIN}/managed-by`]: 'toolhive-operator',
  };
  const place = { name: virtualServerChildNames(name).config, namespace, labels };
  return configMap(apiGroup, place, { [VMCP_CONFIG_FILE]: formatVmcpConfig(config) }).object;
}

/**
 * Returns the annotations of the pods: digests of files and Secrets that the server reads only at its start. Changed
 * contents thus start new pods.
 */
function checksums(self: VirtualServer, needs: Needs, config: VmcpConfig, view: View, settings: KindSettings) {
  const read = [needs.oidc?.bundle, collectorBundle(needs.telemetry), ...needs.callable.readOnce];
  const names = new Set(read.flatMap((bundle) => bundle?.configMap ?? []));
  const [first, ...others] = [...names].map((name) => contentOf(view.find('ConfigMap', name)));
  return {
    [`${settings.apiGroup}/runconfig-checksum`]: digest(virtualReadAtStart(config)),
    ...(first === undefined
      ? {}
      : {
          [`${settings.apiGroup}/mounts-checksum`]: digest(others.length === 0 ? first : { all: [first, ...others] }),
        }),
    ...secretChecksum(secretsOf(secretEnv(self, needs)), view, settings),
  };
}

function contentOf(configMap: KubeObject | undefined): JsonObject {
  return { data: configMap?.data ?? null, binaryData: configMap?.binaryData ?? null };
}

function deployment(
  self: VirtualServer,
  needs: Needs,
  settings: KindSettings,
  annotations: Readonly<Record<string, string>>,
): KubeObject {
  const { name, namespace, spec } = self;
  const labels = workloadLabels('virtualmcpserver', name);
  const { podTemplateSpec, replicas } = spec;
  const template = { metadata: { labels, annotations }, spec: podSpec(self, needs, settings) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: virtualServerChildNames(name).deployment,
      namespace,
      labels,
      ...podTemplateHash(podTemplateSpec),
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: withPodTemplate(template, podTemplateSpec),
    },
  };
}

function podSpec(self: VirtualServer, needs: Needs, { images, pullSecrets }: KindSettings): JsonObject {
  const { name, spec } = self;
  const names = virtualServerChildNames(name);
  const mounted = [
    mountedConfigMap('vmcp-config', VMCP_CONFIG_DIRECTORY, { name: names.config }),
    ...mountedBundles([
      ...[needs.oidc?.bundle, collectorBundle(needs.telemetry)],
      ...(needs.authServer?.bundles ?? []),
      ...needs.callable.bundles,
    ]),
    ...(needs.authServer?.mounted ?? []),
    SCRATCH,
  ];
  return {
    serviceAccountName: spec.serviceAccount ?? names.account,
    ...ENDING.pod,
    securityContext: POD_SECURITY,
    ...imagePullSecrets(pullSecretNames(spec.imagePullSecrets, pullSecrets)),
    containers: [
      {
        name: 'vmcp',
        image: images.vmcp,
        imagePullPolicy: 'IfNotPresent',
        args: [
          ...['vmcp', `--config=${VMCP_CONFIG_DIRECTORY}/${VMCP_CONFIG_FILE}`],
          ...['--host=0.0.0.0', `--port=${PORT}`],
        ],
        ports: [{ name: 'http', containerPort: PORT, protocol: 'TCP' }, ...metricsPorts(spec)],
        env: envOf(withSurroundings(environment(self, needs))),
        resources: RESOURCES,
        livenessProbe: httpProbe('/health', 'http', LIVENESS),
        readinessProbe: httpProbe('/readyz', 'http', READINESS),
        ...(hasOwnHook(spec.podTemplateSpec, 'vmcp') ? {} : ENDING.container),
        securityContext: CONTAINER_SECURITY,
        volumeMounts: mounted.map(({ mount }) => ({ ...mount })),
      },
    ],
    volumes: mounted.map(({ volume }) => ({ ...volume })),
  };
}

const RESOURCES: JsonObject = { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '512Mi' } };
const LIVENESS = { initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };
const READINESS = { initialDelaySeconds: 15, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 };

function environment(self: VirtualServer, needs: Needs): readonly Env[] {
  const { name, namespace, spec } = self;
  const own = spec.config.telemetry ?? needs.telemetry?.openTelemetry;
  const service = own?.serviceName || name;
  const attributes = `service.name=${service},service.namespace=${namespace}`;
  return [
    { name: VMCP_ENV.name, value: name },
    { name: VMCP_ENV.namespace, value: namespace },
    ...(own === undefined ? [] : [{ name: 'OTEL_RESOURCE_ATTRIBUTES', value: attributes }]),
    ...secretEnv(self, needs),
    { name: VMCP_ENV.sessionHmacSecret, secret: { name: virtualServerChildNames(name).hmac, key: HMAC_KEY } },
  ];
}

/** Returns the environment variables with values from Secrets. */
function secretEnv({ spec }: VirtualServer, { oidc, callable, telemetry }: Needs): readonly Env[] {
  return [
    ...(oidc?.env ?? []),
    ...collectorHeaderVariables(telemetry).map(({ name, secret }) => ({ name, secret })),
    ...callable.env,
    ...sessionPassword(spec.sessionStorage, VMCP_ENV.sessionRedisPassword),
  ];
}

/** Returns the disruption budget; an empty list for a single pod. */
function disruption({ name, namespace, spec }: VirtualServer, view: View): readonly KubeObject[] {
  const labels = workloadLabels('virtualmcpserver', name);
  const names = virtualServerChildNames(name);
  const replicas = desiredReplicas(spec.replicas, view, 'Deployment', names.deployment);
  return disruptionBudget(replicas, { name: names.service, namespace, labels, selector: labels });
}

function frontService({ name, namespace, spec }: VirtualServer): KubeObject {
  const labels = workloadLabels('virtualmcpserver', name);
  return service(
    { name: virtualServerChildNames(name).service, namespace, labels },
    {
      type: spec.serviceType,
      selector: labels,
      port: { name: 'http', number: PORT },
      sessionAffinity: spec.sessionAffinity,
    },
  );
}
