// Finds foreign objects that are deleted with a namespace, a CustomResourceDefinition or a volume claim. The foreign
// objects are read only if a run may delete one of these three.

import { idOf, type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { isLarge } from '../observe/large-contents.ts';
import { formatGroupKind, groupKindOf, parseGroupKind, type Snapshot } from '../observe/snapshot.ts';
import type { ApiResource, Cluster } from '../ports.ts';
import { definedKind, isNamespace } from './may-delete.ts';

export interface ContentsDeps {
  readonly cluster: Pick<Cluster, 'list' | 'resources'>;
}

/** Foreign objects that are deleted with another object. */
export interface Contents {
  /** Descriptions of the foreign objects, sorted. */
  readonly takes: readonly string[];
  /**
   * Kinds that could not be listed, each as `Kind.group`, sorted. Objects of these kinds may be deleted too. For a user
   * with more rights, the list may be shorter.
   */
  readonly unlisted: readonly string[];
}

/**
 * Returns the foreign objects by key of the object that may be deleted. Objects without foreign objects are left out.
 */
export async function listContents(
  { cluster }: ContentsDeps,
  snapshot: Pick<Snapshot, 'objects' | 'known' | 'served' | 'ensure'>,
  going: readonly KubeObject[],
): Promise<ReadonlyMap<string, Contents>> {
  const keys = new Set(going.map((object) => keyOfObject(object)));
  const found = await Promise.all(
    going.map(async (object): Promise<[string, Contents]> => {
      const { takes, unlisted = [] } = isNamespace(object)
        ? await inNamespace(cluster, snapshot, object.metadata.name, keys)
        : definedKind(object) === undefined
          ? { takes: dataOf(object) }
          : await ofKind(snapshot, definedKind(object) ?? '', keys);
      return [keyOfObject(object), { takes: [...new Set(takes)].sort(), unlisted: [...new Set(unlisted)].sort() }];
    }),
  );
  return new Map(found.filter(([, { takes, unlisted }]) => takes.length + unlisted.length > 0));
}

/**
 * Returns the volume of a claim. The deletion of the claim releases the volume, and most storage classes then delete
 * its data.
 */
function dataOf({ apiVersion, kind, spec }: KubeObject): string[] {
  if (apiVersion !== 'v1' || kind !== 'PersistentVolumeClaim' || !isObject(spec)) return [];
  return typeof spec.volumeName === 'string' ? [`the data of volume ${spec.volumeName}`] : [];
}

interface ContentsAtRisk {
  readonly takes: readonly string[];
  readonly unlisted?: readonly string[];
}

async function ofKind(
  snapshot: Pick<Snapshot, 'objects' | 'known' | 'served' | 'ensure'>,
  defined: string,
  going: ReadonlySet<string>,
): Promise<ContentsAtRisk> {
  const kind = parseGroupKind(defined);
  await snapshot.ensure([kind]);
  if (snapshot.served(kind) !== undefined && !snapshot.known(kind)) return { takes: [], unlisted: [defined] };
  const objects = snapshot.objects().filter((object) => formatGroupKind(groupKindOf(object)) === defined);
  return { takes: objects.filter((object) => stays(object, going)).map((object) => formatId(idOf(object))) };
}

function stays(object: KubeObject, going: ReadonlySet<string>): boolean {
  return object.metadata.deletionTimestamp === undefined && !going.has(keyOfObject(object));
}

async function inNamespace(
  cluster: ContentsDeps['cluster'],
  snapshot: Pick<Snapshot, 'objects' | 'known'>,
  namespace: string,
  going: ReadonlySet<string>,
): Promise<ContentsAtRisk> {
  const unlisted: string[] = [];
  const kinds = distinctKinds(await cluster.resources());
  const here = snapshot.objects().filter(({ metadata }) => metadata.namespace === namespace);
  const lists = await Promise.all(
    kinds.map(async (resource): Promise<readonly KubeObject[]> => {
      const kind = groupKindOf(resource);
      if (snapshot.known(kind)) return here.filter((object) => sameKind(object, resource));
      try {
        return await cluster.list(resource, namespace, isLarge(resource) ? { only: 'metadata' } : {});
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        unlisted.push(formatGroupKind(kind));
        return [];
      }
    }),
  );
  // An object whose owner has an unlisted kind is left out, because `unlisted` already contains that kind.
  const known = lists
    .flat()
    .filter(({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.every(
        ({ apiVersion, kind }) => !unlisted.includes(formatGroupKind(groupKindOf({ apiVersion, kind }))),
      ),
    );
  return { takes: foreignAmong(known, going), unlisted };
}

function sameKind(object: KubeObject, resource: ApiResource): boolean {
  return formatGroupKind(groupKindOf(object)) === formatGroupKind(groupKindOf(resource));
}

/** Returns the kinds whose objects are stored in namespaces, each once. */
function distinctKinds(resources: readonly ApiResource[]): readonly ApiResource[] {
  const stored = resources.filter(
    ({ apiVersion, kind, namespaced, verbs }) =>
      namespaced && verbs.includes('list') && verbs.includes('delete') && !isMadeByKubernetes({ apiVersion, kind }),
  );
  return [...new Map(stored.map((each) => [formatGroupKind(groupKindOf(each)), each])).values()];
}

/**
 * Returns objects that have no deleted object among their owners or the owners' owners. Objects that Kubernetes creates
 * are left out.
 */
function foreignAmong(objects: readonly KubeObject[], going: ReadonlySet<string>): string[] {
  const byUid = new Map(objects.map((object) => [object.metadata.uid, object]));
  function goesAlong(object: KubeObject, path: readonly KubeObject[]): boolean {
    if (!stays(object, going)) return true;
    const owners = (object.metadata.ownerReferences ?? []).map(({ uid }) => byUid.get(uid));
    return owners.some((owner) => owner !== undefined && !path.includes(owner) && goesAlong(owner, [...path, object]));
  }
  const foreign = objects.filter((object) => !goesAlong(object, []) && !isMadeByKubernetes(object, objects));
  const uids = new Set(foreign.map(({ metadata }) => metadata.uid));
  // If the owner of an object is also foreign, only the owner is returned.
  const tops = foreign.filter(({ metadata }) => !(metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid)));
  return tops.map((object) => formatId(idOf(object)));
}

const IN_EVERY_NAMESPACE: ReadonlySet<string> = new Set(['ConfigMap/kube-root-ca.crt', 'ServiceAccount/default']);
const MADE_KINDS: ReadonlySet<string> = new Set([
  'Event',
  'Event.events.k8s.io',
  'EndpointSlice.discovery.k8s.io',
  'Lease.coordination.k8s.io',
]);

/** Returns true for objects that Kubernetes creates by itself. Endpoints have the name of their Service. */
function isMadeByKubernetes(
  object: Pick<KubeObject, 'apiVersion' | 'kind'> & Partial<Pick<KubeObject, 'metadata'>>,
  beside: readonly KubeObject[] = [],
): boolean {
  if (MADE_KINDS.has(formatGroupKind(groupKindOf(object)))) return true;
  const name = object.metadata?.name;
  if (object.apiVersion !== 'v1' || name === undefined) return false;
  const ofService = beside.some((each) => each.kind === 'Service' && each.metadata.name === name);
  return IN_EVERY_NAMESPACE.has(`${object.kind}/${name}`) || (object.kind === 'Endpoints' && ofService);
}
