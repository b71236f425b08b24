// Implements a cluster with the content of a snapshot, for a plan without a real cluster. Every write fails.

import assert from 'node:assert/strict';
import { groupOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { jsonEquals } from '#std/json.ts';
import { VERSIONS } from '../../kinds/crd.ts';
import type { Kind } from '../../kinds/kind.ts';
import { applySetId } from '../labels.ts';
import { parentId, parentObject } from '../observe/applyset.ts';
import type { Cluster } from '../ports.ts';
import { publishedDocument } from './published-document.ts';
import type { StateSnapshot } from './state-snapshot-format.ts';

export interface SnapshotClusterInput {
  readonly snapshot: StateSnapshot;
  readonly live: readonly KubeObject[];
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
}

export function snapshotCluster(input: SnapshotClusterInput): Cluster {
  const { snapshot } = input;
  const living = new Map(input.live.map((object) => [keyOfObject(object), object]));
  const records = new Map(recordsOf(snapshot).map((object) => [keyOfObject(object), object]));
  return {
    resources: async () => snapshot.served.map((kind) => ({ ...kind, verbs: ['list'] })),
    serves: async (apiVersion, kind) => {
      const found = snapshot.served.find((each) => each.kind === kind && includesVersion(input, each, apiVersion));
      return found === undefined ? undefined : { ...found, apiVersion, verbs: ['list'] };
    },
    schema: async (apiVersion) => publishedDocument({ ...input, definitions: snapshot.definitions }, apiVersion),
    tokenIssuer: async () => ({ fault: 'no server is asked' }),
    refresh: () => undefined,
    listAgain: () => undefined,
    list: async ({ apiVersion, kind }, namespace) => {
      const found = input.live.filter(
        (object) =>
          object.kind === kind &&
          groupOf(object.apiVersion) === groupOf(apiVersion) &&
          (namespace === undefined || object.metadata.namespace === namespace),
      );
      // Like a real server, changes only the apiVersion: all versions of our kinds have the same fields.
      return groupOf(apiVersion) === input.apiGroup ? found.map((object) => ({ ...object, apiVersion })) : found;
    },
    get: async (id) => living.get(keyOf(id)) ?? records.get(keyOf(id)),
    apply: async (object, options) => {
      assert(options.dryRun === true, 'a plan writes nothing');
      const live = living.get(keyOfObject(object));
      if (live !== undefined && sameButForServer(object, live)) return live;
      throw new Failure('cluster-error', 'no server is asked');
    },
    remove: () => failWrite(),
    patch: () => failWrite(),
    create: () => failWrite(),
    replace: () => failWrite(),
    fence: () => undefined,
    requests: () => 0,
  };
}

/**
 * Returns true if the cluster serves the version. A snapshot names only the preferred version. If the preferred version
 * is ours, the definition in the cluster also has all earlier versions.
 */
function includesVersion(
  { apiGroup }: SnapshotClusterInput,
  served: { readonly apiVersion: string },
  apiVersion: string,
): boolean {
  const ours = VERSIONS.map((version) => `${apiGroup}/${version}`);
  const asked = ours.indexOf(apiVersion);
  return served.apiVersion === apiVersion || (asked >= 0 && ours.indexOf(served.apiVersion) > asked);
}

function failWrite(): never {
  return assert.fail('a plan writes nothing');
}

/** Returns the objects that a run reads by name: the ApplySet parent, and definitions of foreign kinds. */
function recordsOf(snapshot: StateSnapshot): KubeObject[] {
  const { instance, cluster, extent, tool, definitions } = snapshot;
  const { homeNamespace } = cluster;
  const sets = { groupKinds: new Set(extent.groupKinds), namespaces: new Set(extent.namespaces) };
  const parent = parentObject(parentId(instance, homeNamespace), applySetId(instance, homeNamespace), sets, tool.name);
  return [parent, ...(definitions as KubeObject[])];
}

function sameButForServer(desired: KubeObject, live: KubeObject): boolean {
  return jsonEquals(withoutServer(desired), withoutServer(live));
}

function withoutServer({ metadata, ...object }: KubeObject): unknown {
  const { uid: _uid, generation: _generation, managedFields: _fields, ...kept } = metadata;
  return { ...object, metadata: kept };
}
