// Provides the facts, besides the evaluated object, that policies use: namespaces and parameters, declared or live.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ParamSource } from '#kubernetes/rules/policy/params.ts';
import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import { bundledKinds } from '#kubernetes/rules/schemas/bundled.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ApiResource, Cluster } from '../ports.ts';
import type { LoadedResource } from '../read/load.ts';
import type { PolicyFacts } from './policies.ts';

/** Returns the CustomResourceDefinitions among the resources. */
export function definitionsAmong(resources: readonly LoadedResource[]): JsonObject[] {
  return resources.flatMap(({ object }) => {
    const json: unknown = object;
    return object.kind === 'CustomResourceDefinition' && isObject(json) ? [json] : [];
  });
}

/** Returns the declared facts, for an evaluation without a cluster. The facts may be incomplete. */
export function declaredFacts(resources: readonly LoadedResource[], definitions: readonly JsonObject[]): PolicyFacts {
  const objects = resources.map((resource) => resource.defaulted ?? resource.object);
  return {
    namespace: namespaceAmong(objects),
    params(apiVersion, kind) {
      const namespaced = scopeOf(apiVersion, kind, definitions);
      if (namespaced === undefined) return undefined;
      const found = objects.filter((object) => object.apiVersion === apiVersion && object.kind === kind);
      return { namespaced, objects: found, complete: false };
    },
  };
}

function namespaceAmong(objects: readonly KubeObject[]): PolicyFacts['namespace'] {
  const byName = new Map(
    objects
      .filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace')
      .map((object) => [object.metadata.name, object]),
  );
  return (name) => byName.get(name);
}

function scopeOf(apiVersion: string, kind: string, definitions: readonly JsonObject[]): boolean | undefined {
  const builtin = bundledKinds().find((known) => known.apiVersion === apiVersion && known.kind === kind);
  if (builtin !== undefined) return builtin.namespaced;
  for (const { spec } of definitions) {
    if (!isObject(spec) || !isObject(spec.names) || spec.names.kind !== kind) continue;
    if (apiVersion.startsWith(`${String(spec.group)}/`)) return spec.scope !== 'Cluster';
  }
  return undefined;
}

/**
 * Reads facts from the cluster, and adds the declared namespaces, because a namespace is applied before the objects in
 * it. Facts that could not be read are unknown. If a policy needs an unknown fact, a problem is reported.
 */
export async function readLiveFacts(
  cluster: Pick<Cluster, 'get' | 'list' | 'resources'>,
  policies: PolicySet,
  resources: readonly LoadedResource[],
): Promise<PolicyFacts> {
  const declared = namespaceAmong(resources.map(({ object }) => object));
  const names = [...new Set(resources.flatMap(({ id }) => id.namespace ?? []))];
  const kinds = new Map(
    policies.policies.flatMap(({ paramKind }) =>
      paramKind === undefined ? [] : [[`${paramKind.apiVersion} ${paramKind.kind}`, paramKind]],
    ),
  );
  const served = kinds.size === 0 ? [] : await cluster.resources();
  const [namespaces, params] = await Promise.all([
    Promise.all(names.map((name) => livingNamespace(cluster, name))),
    Promise.all(
      [...kinds].map(async ([key, { apiVersion, kind }]) => {
        const resource = served.find((each) => each.apiVersion === apiVersion && each.kind === kind);
        return [key, resource === undefined ? undefined : await livingParams(cluster, resource)] as const;
      }),
    ),
  ]);
  const living = namespaceAmong(namespaces.flatMap((object) => object ?? []));
  const sources = new Map(params);
  return {
    namespace: (name) => merged(living(name), declared(name)),
    params: (apiVersion, kind) => sources.get(`${apiVersion} ${kind}`),
  };
}

async function livingNamespace(cluster: Pick<Cluster, 'get'>, name: string): Promise<KubeObject | undefined> {
  return unlessRefused(() => cluster.get({ apiVersion: 'v1', kind: 'Namespace', name }));
}

async function livingParams(cluster: Pick<Cluster, 'list'>, resource: ApiResource): Promise<ParamSource> {
  const listed = await unlessRefused(() => cluster.list(resource));
  return { namespaced: resource.namespaced, objects: listed ?? [], complete: listed !== undefined };
}

async function unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** Returns the namespace after the apply: the labels and annotations of other managers are kept. */
function merged(living: KubeObject | undefined, declared: KubeObject | undefined): KubeObject | undefined {
  if (living === undefined || declared === undefined) return declared ?? living;
  const labels = { ...living.metadata.labels, ...declared.metadata.labels };
  const annotations = { ...living.metadata.annotations, ...declared.metadata.annotations };
  return { ...living, metadata: { ...living.metadata, labels, annotations } };
}
