// Renders the MCP server behind the proxy: its StatefulSet, and the Services through which the proxy reaches it.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { imagePullSecrets, service } from '../generated.ts';
import type { KindSettings, View } from '../kind.ts';
import { CONTAINER_SECURITY, envOf, POD_SECURITY, SCRATCH, secretsOf } from '../pods/pod.ts';
import { withPodTemplate } from '../pods/pod-template.ts';
import { secretChecksum } from '../pods/secret-checksum.ts';
import { backendEnv } from './backend-env.ts';
import { backendPort, isStdio, type Server, serverChildNames, serverReplicas, sessionPool, sleepOf } from './facts.ts';

interface BackendParts {
  readonly podAnnotations: Readonly<Record<string, string>>;
  readonly pullSecrets: readonly string[];
}

/**
 * Uses ToolHive's name, selector and serviceName, because Kubernetes refuses to change them in an existing StatefulSet.
 * skep can thus take over ToolHive's StatefulSet.
 */
export function backendStatefulSet(self: Server, view: View, settings: KindSettings, parts: BackendParts): KubeObject {
  const { name, namespace, spec } = self;
  const { statefulSet } = serverChildNames(name);
  const labels = backendLabels(self);
  const replicas = serverReplicas(self) ?? wokenReplicas(self, view);
  const podAnnotations = { ...parts.podAnnotations, ...secretChecksum(secretsOf(backendEnv(spec)), view, settings) };
  const template = {
    metadata: { labels, annotations: Object.keys(podAnnotations).length === 0 ? undefined : { ...podAnnotations } },
    spec: backendPod(self, parts.pullSecrets),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: statefulSet, namespace, labels, ...sleepMark(self) },
    spec: {
      replicas,
      serviceName: statefulSet,
      ...podManagement(self, view),
      selector: { matchLabels: { app: name } },
      template: withPodTemplate(template, spec.podTemplateSpec),
    },
  };
}

/** Annotation of the StatefulSet of a server with skep.dev/sleep-after. */
const SLEEPS = 'skep.dev/sleeps';

function sleepMark(self: Server): { readonly annotations?: Record<string, string> } {
  return sleepOf(self) === undefined ? {} : { annotations: { [SLEEPS]: 'true' } };
}

/**
 * Returns 1 if the server is asleep and its manifest no longer has skep.dev/sleep-after, because no proxy would start
 * the server again. When the server is awake, other controllers set the number.
 */
function wokenReplicas(self: Server, view: View): number | undefined {
  if (sleepOf(self) !== undefined) return undefined;
  const live = view.find('StatefulSet', serverChildNames(self.name).statefulSet);
  const isAsleep = live?.metadata.annotations?.[SLEEPS] === 'true' && isObject(live.spec) && live.spec.replicas === 0;
  return isAsleep ? 1 : undefined;
}

/**
 * Returns the policy Parallel if each session has its own pod, so that Kubernetes replaces used pods at the same time.
 * Kubernetes refuses to change the policy, so an existing StatefulSet keeps its policy.
 */
function podManagement(self: Server, view: View): { readonly podManagementPolicy?: string } {
  const live = view.find('StatefulSet', serverChildNames(self.name).statefulSet)?.spec;
  const isParallel = isObject(live) ? live.podManagementPolicy === 'Parallel' : sessionPool(self) !== undefined;
  return isParallel ? { podManagementPolicy: 'Parallel' } : {};
}

/**
 * Returns labels that only pods of the MCP server have. For a server with the name mcpserver, `app` alone would also
 * select the proxies of every server. The StatefulSet's own selector has only `app`, because Kubernetes refuses to
 * change it.
 */
export function backendSelector(name: string) {
  return { app: name, 'toolhive-basename': name };
}

export function backendLabels({ name, spec }: Server) {
  return {
    app: name,
    toolhive: 'true',
    'toolhive-name': name,
    'toolhive-basename': name,
    'toolhive-transport': spec.transport,
    ...(isStdio(spec) ? {} : { 'toolhive-port': String(backendPort(spec)) }),
  };
}

function backendPod(self: Server, pullSecrets: readonly string[]): JsonObject {
  const { name, spec } = self;
  // Without stdinOnce, the container runtime keeps standard input open after a session, and the process does not exit.
  const inputOnce = sessionPool(self) === undefined ? {} : { stdinOnce: true };
  const volumes = spec.volumes ?? [];
  const scratch = volumes.some(({ mountPath }) => mountPath === SCRATCH.mount.mountPath) ? [] : [SCRATCH];
  const mounts: Json[] = volumes.map(({ name: volume, mountPath, readOnly }) => ({
    name: volume,
    mountPath,
    readOnly: readOnly || undefined,
  }));
  return {
    serviceAccountName: spec.serviceAccount ?? serverChildNames(name).backendAccount,
    securityContext: POD_SECURITY,
    ...imagePullSecrets(pullSecrets),
    containers: [
      {
        name: 'mcp',
        image: spec.image,
        args: spec.args,
        env: envOf(backendEnv(spec)),
        resources: spec.resources,
        ...(isStdio(spec)
          ? { stdin: true, ...inputOnce }
          : listening(backendPort(spec), sleepOf(self) === undefined ? 5 : 1)),
        securityContext: CONTAINER_SECURITY,
        volumeMounts: [...mounts, ...scratch.map(({ mount }) => ({ ...mount }))],
      },
    ],
    volumes: [
      ...volumes.map(({ name: volume, hostPath }) => ({ name: volume, hostPath: { path: hostPath } })),
      ...scratch.map(({ volume }) => ({ ...volume })),
    ],
  };
}

/**
 * Returns the readiness probe: a server is ready if it listens on the port that the proxy uses. The port of a server
 * that sleeps is checked every second, because clients wait.
 */
function listening(port: number, periodSeconds: number): JsonObject {
  return {
    ports: [{ name: 'mcp', containerPort: port, protocol: 'TCP' }],
    readinessProbe: { tcpSocket: { port: 'mcp' }, periodSeconds, timeoutSeconds: 3, failureThreshold: 3 },
  };
}

/** Returns an empty list for a server on standard streams. */
export function backendServices(self: Server): readonly KubeObject[] {
  const { name, namespace, spec } = self;
  if (isStdio(spec)) return [];
  const { backendService, headlessService } = serverChildNames(name);
  const labels = backendLabels(self);
  const number = backendPort(spec);
  const selector = backendSelector(name);
  const port = { name: `port-${number}`, number };
  return [
    service({ name: headlessService, namespace, labels }, { selector, port, headless: true }),
    service(
      { name: backendService, namespace, labels },
      { selector, port, sessionAffinity: 'ClientIP', affinityTimeoutSeconds: 1800 },
    ),
  ];
}
