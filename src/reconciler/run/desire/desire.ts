// Computes all desired objects: the resources in Git, and the children of the healthy resources. Each object gets our
// labels.

import assert from 'node:assert/strict';
import type { Finding } from '#kubernetes/rules/finding.ts';
import type { ReadContents } from '#kubernetes/rules/large-values.ts';
import { idOf, type KubeObject, keyOf, type OwnerReference } from '#kubernetes/rules/object.ts';
import { jsonEquals } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Kind, KindSettings, Resource, View } from '../../kinds/kind.ts';
import { labelValue, OWNER, ownerLabel, PART_OF, RUN, SOURCE, withLabels } from '../labels.ts';
import type { Sourced } from '../read/sourced.ts';
import { runOf } from '../records/inventory.ts';
import type { Standing } from '../resolve/resolve.ts';
import type { Reuse } from '../reuse.ts';
import { type IsUnread, notingUnread, type Unread } from './unread.ts';

export interface Desired {
  /** Object as it will be applied. If the owner of a child does not exist yet, the apply adds the owner reference. */
  readonly object: KubeObject;
  readonly id: ResourceId;
  readonly key: string;
  /** Custom resource that owns the object; absent for objects that Git declares. */
  readonly owner?: ResourceId;
  /** Reads the long values for which `object` has stand-ins; absent if `object` has no stand-ins. */
  readonly contents?: ReadContents;
  /** Number of bytes by key of a Secret, for values that are still to be generated (generated.ts). */
  readonly random?: Readonly<Record<string, number>>;
}

export interface DesireInput {
  readonly standings: readonly Standing[];
  readonly views: (namespace: string) => View;
  readonly settings: KindSettings;
  readonly applySet: string;
  readonly manager: string;
  readonly living: (id: ResourceId) => KubeObject | undefined;
  readonly livingByKey: (key: string) => KubeObject | undefined;
  /** If false, another operator creates the children. Children that we created before stay unchanged. */
  readonly children: boolean;
  readonly isUnread: IsUnread;
  /** Settings as text, without the digest function. */
  readonly configuration: string;
  /** Key of the digests. If undefined, the digests are placeholders. */
  readonly digestKey: Uint8Array | undefined;
  readonly reuse: Reuse;
}

export interface Desires {
  readonly objects: readonly Desired[];
  /** Owners whose children must stay unchanged, each as `namespace/owner label`. */
  readonly heldOwners: ReadonlySet<string>;
}

export interface Made extends Desires {
  /** Resources whose children were not created, because an object that the children depend on could not be read. */
  readonly unread: Unread;
}

export function desire(input: DesireInput): Made {
  const applied = input.standings.filter((standing) => standing.health !== 'held');
  const own = applied.filter(({ loaded }) => loaded.byHand !== true).map(({ loaded }) => ownDesired(input, loaded));
  const healthy = input.children ? applied.filter((standing) => standing.health === 'healthy') : [];
  const made = healthy.map((standing) => ({ standing, ...childrenOf(input, standing) }));
  const unread = new Map(
    made.filter((one) => one.unread.length > 0).map(({ standing, unread }) => [standing.loaded, unread]),
  );
  const objects = [...own, ...made.flatMap(({ children }) => children)];
  assert(
    new Set(objects.map(({ key }) => key)).size === objects.length,
    'no two healthy resources create the same object: kinds name all objects that they create',
  );
  const held = input.standings.filter(
    ({ loaded, health }) => !input.children || health !== 'healthy' || unread.has(loaded),
  );
  return { objects, heldOwners: new Set(held.map(({ loaded }) => heldOwner(loaded.id))), unread };
}

/** Returns the namespace and owner label of the resource. Its live children have the same namespace and label. */
export function heldOwner(id: ResourceId): string {
  return `${id.namespace ?? ''}/${ownerLabel(id.kind, id.name)}`;
}

function ownDesired({ applySet, living, manager, reuse }: DesireInput, loaded: Sourced): Desired {
  const { object: declared, contents, id, source } = loaded;
  const key = keyOf(id);
  const run = runWrittenOn(living(id), manager);
  const object = reuse.result({
    stage: 'declared',
    key,
    given: [declared, source, applySet, run],
    questions: {},
    work: () => withRun(ownObject(applySet, loaded), run),
    equal: jsonEquals,
  });
  return { object, id, key, ...(contents && { contents }) };
}

/**
 * Returns the run that created the object; undefined if the object does not exist, or has no such annotation of our
 * manager.
 */
function runWrittenOn(live: KubeObject | undefined, manager: string): string | undefined {
  return live === undefined ? undefined : runOf(live, manager);
}

/**
 * Returns the object with the annotation of the run that created it. An annotation that an author has copied into the
 * manifest is removed.
 */
function withRun(object: KubeObject, run: string | undefined): KubeObject {
  const { [RUN]: _copied, ...others } = object.metadata.annotations ?? {};
  const annotations = run === undefined ? others : { ...others, [RUN]: run };
  const { annotations: _declared, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations } };
}

/**
 * Returns a declared object with our labels. Removes the owner label and controller references of the manifest, so that
 * no declared object is mistaken for a child. The limits on deletions ignore children, and `skep dev` runs our image
 * only for children.
 */
export function ownObject(applySet: string, loaded: Sourced): KubeObject {
  const { ownerReferences, ...metadata } = loaded.object.metadata;
  const { [OWNER]: _copied, ...labels } = metadata.labels ?? {};
  const others = ownerReferences?.filter(({ controller }) => controller !== true) ?? [];
  const owned = others.length === 0 ? {} : { ownerReferences: others };
  const declared = { ...loaded.object, metadata: { ...metadata, labels, ...owned } };
  return withLabels(declared, { [PART_OF]: applySet, [SOURCE]: labelValue(loaded.source) });
}

interface Children {
  readonly children: readonly Desired[];
  readonly unread: readonly Finding[];
}

function childrenOf(input: DesireInput, { loaded }: Standing): Children {
  const { kind, defaulted, id, source, byHand } = loaded;
  if (kind === undefined || defaulted === undefined) return { children: [], unread: [] };
  const { namespace = '' } = id;
  const view = input.views(namespace);
  const { uid } = input.living(id)?.metadata ?? {};
  const { applySet, manager, configuration, digestKey, reuse } = input;
  return reuse.result({
    stage: 'children',
    key: keyOf(id),
    given: [kind, defaulted, uid, source, byHand, applySet, manager, configuration, digestKey],
    questions: {
      find: (of: string, name: string) => view.find(of, name),
      all: (of: string) => view.all(of),
      unread: (of: string, name?: string) => input.isUnread(of, namespace, name),
      run: (childKey: string) => runWrittenOn(input.livingByKey(childKey), manager),
    },
    work: (around) => makeChildren(input, { loaded, kind, defaulted, uid }, around),
    // Digests without a key are placeholders: the run may find the key later.
    keeps: ({ hasDigests }) => !hasDigests || digestKey !== undefined,
    equal: jsonEquals,
  });
}

/** Functions that read other objects while the children of a resource are computed. */
interface Around extends Omit<View, 'pods'> {
  unread(kind: string, name?: string): boolean;
  run(key: string): string | undefined;
}

interface Owner {
  readonly loaded: Sourced;
  readonly kind: Kind;
  readonly defaulted: Resource;
  readonly uid: string | undefined;
}

function makeChildren(
  input: Pick<DesireInput, 'applySet' | 'settings'>,
  { loaded, kind, defaulted, uid }: Owner,
  around: Around,
): Children & { readonly hasDigests: boolean } {
  const references = uid === undefined ? [] : [ownerReference(loaded.id, uid)];
  const labels = {
    [PART_OF]: input.applySet,
    ...(loaded.byHand === true ? {} : { [SOURCE]: labelValue(loaded.source) }),
    [OWNER]: ownerLabel(loaded.id.kind, loaded.id.name),
  };
  const desired = (child: KubeObject): Desired => {
    const marked = withLabels(child, labels);
    const metadata = references.length === 0 ? marked.metadata : { ...marked.metadata, ownerReferences: references };
    const id = idOf(marked);
    const key = keyOf(id);
    return { object: withRun({ ...marked, metadata }, around.run(key)), id, key, owner: loaded.id };
  };
  let hasDigests = false;
  const digest = (text: string): string => {
    hasDigests = true;
    return input.settings.digest(text);
  };
  const settings = { ...input.settings, digest };
  const { namespace = '' } = loaded.id;
  const view = notingUnread(around, namespace, (of, _namespace, name) =>
    name === undefined ? around.unread(of) : around.unread(of, name),
  );
  const children = [
    ...kind.children(defaulted, view, settings).map(desired),
    ...kind.generated(defaulted, settings).map(({ object, random }) => ({ ...desired(object), random })),
  ];
  const unread = view.unread();
  return { children: unread.length > 0 ? [] : children, unread, hasDigests };
}

/** Returns the controller reference by which the garbage collector deletes a child with its owner. */
export function ownerReference(owner: ResourceId, uid: string): OwnerReference {
  const { apiVersion, kind, name } = owner;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
