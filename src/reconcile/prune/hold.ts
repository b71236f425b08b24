// Why a living object of our set that nothing desires stays all the same: a problem never deletes.
// Knows neither clusters nor specs.

import { idOf, type KubeObject, keyOf } from '../../kube/object.ts';
import { labelOf, OWNER, ownerLabel, SOURCE } from '../labels.ts';

export interface HoldInput {
  /** `namespace/owner label` of owners whose children must stay. */
  readonly heldOwners: ReadonlySet<string>;
  /** Kinds of ours whose objects are not known (their LIST failed), in lower case as in owner labels. */
  readonly unknownOwnerKinds: ReadonlySet<string>;
  /** Keys of invalid resources, and of those that depend on them. */
  readonly heldKeys: ReadonlySet<string>;
  /** Values of the source label that the configuration knows. */
  readonly sources: ReadonlySet<string>;
  /** Value of the source label to the reason why nothing of that source may be deleted. */
  readonly suspended: ReadonlyMap<string, string>;
  readonly prune: boolean;
  /** Whether the instance may touch the namespace. */
  readonly allows: (namespace: string) => boolean;
  /** Whether a source, by its label, may have such an object at all. */
  readonly couldDeclare: (source: string, object: KubeObject) => boolean;
  /** Whether the source that the object comes from may have such an object. */
  readonly withinLimits: (object: KubeObject) => boolean;
  /** Whether the object shows that this instance has applied it. */
  readonly applied: (object: KubeObject) => boolean;
}

/** Undefined where it may go. */
export function holdReason(input: HoldInput, object: KubeObject): string | undefined {
  const { namespace, uid } = object.metadata;
  const source = labelOf(object, SOURCE);
  const owners = ownersOf(object);
  const held = owners.find((owner) => input.heldOwners.has(`${namespace ?? ''}/${owner}`));
  const unknown = owners.find((owner) => input.unknownOwnerKinds.has(owner.split('.')[0] ?? ''));
  if (!input.prune) return 'apply.prune is false';
  if (uid === undefined) return 'it has no uid to be deleted by';
  if (namespace !== undefined && !input.allows(namespace)) return `namespace ${namespace} is not ours to touch`;
  if (!input.withinLimits(object)) return `it is beyond what source ${source} may declare`;
  // A copy takes the labels along.
  if (!input.applied(object)) return 'it has our labels, but this instance never applied it: is it a copy?';
  if (input.heldKeys.has(keyOf(idOf(object)))) return 'its manifest, or one that it depends on, is invalid';
  if (held !== undefined) return `its owner ${held} is held`;
  if (unknown !== undefined) return `nothing is known about its owner ${unknown}`;
  return suspension(input, source, object);
}

/** Labels can be taken off by hand; the garbage collector's reference says the same. */
export function ownersOf(object: KubeObject): string[] {
  const label = labelOf(object, OWNER);
  const controllers = (object.metadata.ownerReferences ?? []).filter(({ controller }) => controller === true);
  return [...(label === undefined ? [] : [label]), ...controllers.map(({ kind, name }) => ownerLabel(kind, name))];
}

/** It may be one of those that could not be read: by a new name of its source, or by a move from one to another. */
function suspension(
  { sources, suspended, couldDeclare }: HoldInput,
  source: string | undefined,
  object: KubeObject,
): string | undefined {
  const own = source === undefined ? undefined : suspended.get(source);
  if (own !== undefined) return `source ${source}: ${own}`;
  const other = [...suspended].find(([label]) => couldDeclare(label, object));
  if (other === undefined) return undefined;
  const [label, reason] = other;
  const known = source !== undefined && sources.has(source);
  const why = known ? 'it may have moved to' : 'its source is not known, and it may be one of';
  return `${why} source ${label}: ${reason}`;
}
