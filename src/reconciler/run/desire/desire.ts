// Turns the healthy resources into all desired objects: the resources and their children, each marked as ours.

import assert from 'node:assert/strict';
import type { Finding } from '#kubernetes/rules/finding.ts';
import type { ReadContents } from '#kubernetes/rules/large-values.ts';
import { idOf, type KubeObject, keyOf, type OwnerReference } from '#kubernetes/rules/object.ts';
import { jsonEquals } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Kind, Resource, Settings, View } from '../../kinds/kind.ts';
import { labelValue, OWNER, ownerLabel, PART_OF, RUN, SOURCE, withLabels } from '../labels.ts';
import type { Sourced } from '../read/sourced.ts';
import { runOf } from '../records/inventory.ts';
import type { Standing } from '../resolve/resolve.ts';
import type { Reuse } from '../reuse.ts';
import { type IsUnread, notingUnread, type Unread } from './unread.ts';

export interface Desired {
  /** Object as it will be applied. A child whose owner does not exist yet has no owner reference: the apply adds it. */
  readonly object: KubeObject;
  readonly id: ResourceId;
  readonly key: string;
  /** Owning custom resource; absent for objects that Git itself declares. */
  readonly owner?: ResourceId;
  /** Reads the long values for which `object` has stand-ins; absent if `object` has no stand-ins. */
  readonly contents?: ReadContents;
  /** Keys of a Secret whose values are still to be generated (generated.ts), with the number of bytes. */
  readonly random?: Readonly<Record<string, number>>;
}

export interface DesireInput {
  readonly standings: readonly Standing[];
  readonly views: (namespace: string) => View;
  readonly settings: Settings;
  /** Id of the instance's ApplySet. */
  readonly applySet: string;
  /** Field manager of the instance. */
  readonly manager: string;
  readonly living: (id: ResourceId) => KubeObject | undefined;
  readonly livingByKey: (key: string) => KubeObject | undefined;
  /** If false, another operator creates the children, and children that we created before stay unchanged. */
  readonly children: boolean;
  readonly isUnread: IsUnread;
  /** The settings as text, without the digest. */
  readonly configuration: string;
  /** Key of the digests; if undefined, the digests are placeholders. */
  readonly digestKey: Uint8Array | undefined;
  readonly reuse: Reuse;
}

export interface Desires {
  readonly objects: readonly Desired[];
  /** Owners whose children must stay unchanged: `namespace/owner label`. */
  readonly heldOwners: ReadonlySet<string>;
}

export interface Made extends Desires {
  /** Resources whose children were not created. */
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

/** Returns the namespace and owner label by which a live child of a held owner is recognised. */
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

/** Returns the run that created the object, if the instance has noted it on the object. */
function runWrittenOn(live: KubeObject | undefined, manager: string): string | undefined {
  return live === undefined ? undefined : runOf(live, manager);
}

/**
 * Keeps the note of the run that created the object. A note in the manifest was copied from elsewhere and is removed.
 */
function withRun(object: KubeObject, run: string | undefined): KubeObject {
  const { [RUN]: _copied, ...others } = object.metadata.annotations ?? {};
  const annotations = run === undefined ? others : { ...others, [RUN]: run };
  const { annotations: _declared, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations } };
}

/**
 * Marks an object that Git declares. Such an object is never a child: neither the label of a child nor a controller
 * reference to a custom resource is applied, because deletions of children do not count, and `skep dev` runs our image
 * for children alone.
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
    // Digests without a key are placeholders: the run may still find the key.
    keeps: ({ hasDigests }) => !hasDigests || digestKey !== undefined,
    equal: jsonEquals,
  });
}

/** Everything that the children of a resource depend on, in addition to the resource itself. */
interface Around extends Omit<View, 'pods'> {
  unread(kind: string, name?: string): boolean;
  /** Returns the run that created the object with that key. */
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

/** Returns the controller reference that makes the garbage collector delete a child with its owner. */
export function ownerReference(owner: ResourceId, uid: string): OwnerReference {
  const { apiVersion, kind, name } = owner;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
