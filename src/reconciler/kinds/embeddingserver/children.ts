// Renders the children of an EmbeddingServer: a StatefulSet and its Service.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { imagePullSecrets, service } from '../generated.ts';
import type { KindSettings, View } from '../kind.ts';
import { withOverrides } from '../labels.ts';
import { CONTAINER_SECURITY, type Env, envOf, httpProbe, POD_SECURITY, SCRATCH, secretsOf } from '../pods/pod.ts';
import { withPodTemplate } from '../pods/pod-template.ts';
import { secretChecksum } from '../pods/secret-checksum.ts';
import { disruptionBudget } from '../proxy/disruption.ts';
import { CACHE_VOLUME, type Cache, cacheOf } from './cache.ts';
import { type Embedding, embeddingLabels, fieldArguments, MODEL_ENV, type Spec, TOKEN_ENV } from './facts.ts';

/** Folder in which text-embeddings-inference stores models. */
const DATA_DIRECTORY = '/data';

export function children(self: Embedding, view: View, settings: KindSettings): readonly KubeObject[] {
  const { name, namespace, spec } = self;
  const labels = embeddingLabels(name);
  const selector = selectorOf(name, view);
  const metadata = { name, namespace, ...withOverrides(spec.resourceOverrides?.service ?? {}, { labels }) };
  return [
    statefulSet(self, view, settings),
    service(
      { ...metadata, labels: metadata.labels ?? labels },
      {
        selector,
        port: { name: 'http', number: spec.port },
      },
    ),
    ...disruptionBudget(spec.replicas, { name, namespace, labels, selector }),
  ];
}

/**
 * Returns the selector of the existing StatefulSet, because Kubernetes refuses to change selectors. Returns the default
 * selector for a new StatefulSet.
 */
function selectorOf(name: string, view: View): Readonly<Record<string, string>> {
  const spec = view.find('StatefulSet', name)?.spec;
  const selector = isObject(spec) && isObject(spec.selector) ? spec.selector.matchLabels : undefined;
  const entries = isObject(selector) ? Object.entries(selector) : [];
  const texts = entries.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []));
  return texts.length === 0 ? embeddingLabels(name) : Object.fromEntries(texts);
}

function statefulSet(self: Embedding, view: View, settings: KindSettings): KubeObject {
  const { name, namespace, spec } = self;
  const cache = cacheOf(self, view);
  const labels = embeddingLabels(name);
  const selector = selectorOf(name, view);
  const { podTemplateMetadataOverrides, ...overrides } = spec.resourceOverrides?.statefulSet ?? {};
  const annotations = secretChecksum(secretsOf(environment(spec)), view, settings);
  const template = {
    metadata: withOverrides({ labels: { ...labels, ...selector }, annotations }, podTemplateMetadataOverrides),
    spec: pod(spec, cache, settings),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    // For this kind, labels of the author take precedence over skep's labels.
    metadata: { name, namespace, ...withOverrides(overrides, { labels }) },
    spec: {
      replicas: spec.replicas,
      serviceName: name,
      selector: { matchLabels: selector },
      template: withPodTemplate(template, spec.podTemplateSpec),
      volumeClaimTemplates: cache.templates.length === 0 ? undefined : [...cache.templates],
    },
  };
}

function pod(spec: Spec, { templates }: Cache, { pullSecrets }: KindSettings): JsonObject {
  // Kubernetes mounts a claim by the name of its template, without an entry in `volumes`.
  const volumes = templates.length === 0 ? [{ name: CACHE_VOLUME, emptyDir: {} }] : [];
  return {
    automountServiceAccountToken: false,
    securityContext: POD_SECURITY,
    ...imagePullSecrets(pullSecrets),
    containers: [
      {
        name: 'embedding',
        image: spec.image,
        imagePullPolicy: spec.imagePullPolicy,
        args: [...fieldArguments(spec).flatMap(({ flag, value }) => [flag, value]), ...(spec.args ?? [])],
        ports: [{ name: 'http', containerPort: spec.port, protocol: 'TCP' }],
        env: envOf(environment(spec)),
        resources: spec.resources,
        startupProbe: httpProbe('/health', 'http', STARTUP),
        livenessProbe: httpProbe('/health', 'http', LIVENESS),
        readinessProbe: httpProbe('/health', 'http', READINESS),
        securityContext: CONTAINER_SECURITY,
        volumeMounts: [{ name: CACHE_VOLUME, mountPath: DATA_DIRECTORY }, { ...SCRATCH.mount }],
      },
    ],
    volumes: [...volumes, { ...SCRATCH.volume }],
  };
}

/** Lists the author's variables last, so that they take precedence. */
function environment({ model, hubTokenSecretRef, env }: Spec): readonly Env[] {
  return [
    { name: MODEL_ENV, value: model },
    ...(hubTokenSecretRef === undefined ? [] : [{ name: TOKEN_ENV, secret: hubTokenSecretRef }]),
    { name: 'HF_HOME', value: DATA_DIRECTORY },
    ...(env ?? []),
  ];
}

/** A server answers only after it has loaded its model. A download may take up to an hour (360 times 10 seconds). */
const STARTUP = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 360 };
const LIVENESS = { periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 3 };
const READINESS = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };
