// Renders the Deployment and the Service of a proxy. contracts/run-config.ts defines the configuration that the proxy
// reads.

import { AUTHZ_DIRECTORY, AUTHZ_FILE } from '#contracts/authz-config.ts';
import { RUN_CONFIG_DIRECTORY, RUN_CONFIG_FILE } from '#contracts/run-config.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Json, JsonObject } from '#std/json.ts';
import { hasPolicies } from '../auth/authz-settings.ts';
import { mountedBundles } from '../auth/ca-bundle.ts';
import { imagePullSecrets, service } from '../generated.ts';
import { withOverrides, workloadLabels } from '../labels.ts';
import {
  CONTAINER_SECURITY,
  ENDING,
  type Env,
  envOf,
  httpProbe,
  type Mounted,
  mountedConfigMap,
  POD_SECURITY,
  SCRATCH,
  secretsOf,
  withSurroundings,
} from '../pods/pod.ts';
import { hasOwnHook, podTemplateHash, withPodTemplate } from '../pods/pod-template.ts';
import { mountedSecrets, type SecretFile } from '../pods/secret-files.ts';
import { disruptionBudget } from './disruption.ts';
import { collectorBundle, type ProxyFacts, type ProxyNeeds } from './proxy.ts';
import { metricsPort } from './service.ts';

/** Settings of a proxy's pods that depend on its kind. */
export interface ProxyPod {
  readonly image: string;
  readonly account: string;
  /** True if the pod needs a service account token, even if its OIDC settings need none. */
  readonly needsToken: boolean;
  /** Number of pods; undefined if another controller, such as an autoscaler, sets the number. */
  readonly replicas: number | undefined;
  readonly resources?: JsonObject;
  /** Seconds between the start and the first readiness check. */
  readonly readyAfterSeconds: number;
  /** Secrets that the proxy reads from files, in addition to the Secrets in its settings. */
  readonly files: readonly SecretFile[];
  readonly mounted: readonly Mounted[];
  readonly annotations: Readonly<Record<string, string>>;
  /** Pod template of the author. */
  readonly podTemplateSpec?: JsonObject;
}

export function proxyDeployment(proxy: ProxyFacts, needs: ProxyNeeds, pod: ProxyPod): KubeObject {
  const { workload, name, namespace, spec, names } = proxy;
  const labels = workloadLabels(workload, name);
  const overrides = spec.resourceOverrides?.proxyDeployment;
  const annotations = { ...pod.annotations, ...needs.followed(secretsOf(environment(proxy, needs))) };
  const metadata = withOverrides({ labels, annotations }, overrides?.podTemplateMetadataOverrides);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...{ name: names.deployment, namespace },
      ...withOverrides({ labels, ...podTemplateHash(pod.podTemplateSpec) }, overrides),
    },
    spec: {
      replicas: pod.replicas,
      selector: { matchLabels: labels },
      template: withPodTemplate({ metadata, spec: podSpec(proxy, needs, pod) }, pod.podTemplateSpec),
    },
  };
}

function podSpec(proxy: ProxyFacts, needs: ProxyNeeds, pod: ProxyPod): JsonObject {
  const mounted = [...mounts(proxy, needs, pod), SCRATCH];
  const readiness = { initialDelaySeconds: pod.readyAfterSeconds, periodSeconds: 5, timeoutSeconds: 3 };
  return {
    serviceAccountName: pod.account,
    automountServiceAccountToken: pod.needsToken || needs.oidc?.needsToken === true,
    ...ENDING.pod,
    securityContext: POD_SECURITY,
    ...imagePullSecrets(needs.pullSecrets),
    containers: [
      {
        name: 'toolhive',
        image: pod.image,
        args: ['proxy', `--config=${RUN_CONFIG_DIRECTORY}/${RUN_CONFIG_FILE}`],
        ports: ports(proxy),
        env: envOf(withSurroundings(environment(proxy, needs))),
        resources: pod.resources ?? RESOURCES,
        livenessProbe: httpProbe('/health', 'http', LIVENESS),
        readinessProbe: httpProbe('/readyz', 'http', { ...readiness, failureThreshold: 3 }),
        ...(hasOwnHook(pod.podTemplateSpec, 'toolhive') ? {} : ENDING.container),
        securityContext: CONTAINER_SECURITY,
        volumeMounts: mounted.map(({ mount }) => ({ ...mount })),
      },
    ],
    volumes: mounted.map(({ volume }) => ({ ...volume })),
  };
}

function ports(proxy: ProxyFacts): Json[] {
  const metrics = metricsPort(proxy);
  return [
    { name: 'http', containerPort: proxy.port, protocol: 'TCP' },
    ...(metrics === undefined ? [] : [{ name: 'metrics', containerPort: metrics, protocol: 'TCP' }]),
  ];
}

/**
 * Resource requests for a proxy without callers. Without requests, a node that runs out of memory would end the pod
 * first.
 */
const RESOURCES = { requests: { cpu: '10m', memory: '96Mi' } };

const LIVENESS = { initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };

/** Returns the environment of the proxy. Variables of the author take precedence. */
function environment({ name, namespace, spec }: ProxyFacts, { oidc, telemetry }: ProxyNeeds): readonly Env[] {
  const { openTelemetry } = telemetry ?? {};
  const serviceName = openTelemetry?.serviceName || name;
  const attributes = `service.name=${serviceName},service.namespace=${namespace}`;
  return [
    ...(openTelemetry === undefined ? [] : [{ name: 'OTEL_RESOURCE_ATTRIBUTES', value: attributes }]),
    ...(oidc?.env ?? []),
    ...(spec.resourceOverrides?.proxyDeployment?.env ?? []),
  ];
}

function mounts({ names, spec }: ProxyFacts, needs: ProxyNeeds, pod: ProxyPod): readonly Mounted[] {
  const { oidc, auth, telemetry } = needs;
  const policies = spec.authzConfig?.configMap;
  const policyFile = {
    name: policies?.name ?? names.inlineAuthz,
    items: [{ key: policies?.key ?? AUTHZ_FILE, path: AUTHZ_FILE }],
  };
  return [
    mountedConfigMap('runconfig', RUN_CONFIG_DIRECTORY, { name: names.runConfig }),
    ...mountedSecrets([...needs.files, ...pod.files]),
    ...pod.mounted,
    ...(hasPolicies(spec) ? [mountedConfigMap('authz-config', AUTHZ_DIRECTORY, policyFile)] : []),
    ...mountedBundles([oidc?.bundle, ...auth.bundles, collectorBundle(telemetry)]),
    ...auth.mounted,
  ];
}

export function proxyService({ workload, name, namespace, names, port, spec }: ProxyFacts): KubeObject {
  const labels = workloadLabels(workload, name);
  const metadata = withOverrides({ labels }, spec.resourceOverrides?.proxyService);
  return service(
    { name: names.service, namespace, labels, ...metadata },
    { selector: labels, port: { name: 'http', number: port }, sessionAffinity: spec.sessionAffinity },
  );
}

/** `replicas`: number of pods, if known. */
export function proxyDisruption(proxy: ProxyFacts, replicas: number | undefined): readonly KubeObject[] {
  const { workload, name, namespace, names } = proxy;
  const labels = workloadLabels(workload, name);
  return disruptionBudget(replicas, { name: names.disruptionBudget, namespace, labels, selector: labels });
}
