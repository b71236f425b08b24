// Which of the living objects that nothing desires may go in this run, and why the others stay: a problem never deletes,
// and nothing goes before what refers to it. Knows neither clusters nor specs.

import { idOf, type KubeObject, keyOf } from '../../kube/object.ts';
import { formatId, type ResourceId } from '../../std/problem.ts';
import { heldOwner } from '../desire/desire.ts';
import { labelOf, OWNER } from '../labels.ts';
import { type HoldInput, holdReason, ownersOf } from './hold.ts';
import { type LeftAlone, protectionOf } from './left-alone.ts';
import type { Referrers } from './referrers.ts';

export interface Held {
  readonly resource: ResourceId;
  readonly reason: string;
  /** True: what stays still refers to it. */
  readonly referredTo?: true;
  /** True: it was deleted before, and is not gone yet. */
  readonly leaving?: true;
}

export interface DeletionsInput extends HoldInput {
  readonly surplus: readonly KubeObject[];
  /** What Git declares, but is asked to be left alone; by key. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
  readonly referrers: Referrers;
  /** Kinds of ours that could not be listed: they may refer to anything. */
  readonly unknownReferrers: readonly string[];
  /** Namespaces of what is wanted. */
  readonly inhabited: ReadonlySet<string>;
}

export interface Deletions {
  readonly going: readonly KubeObject[];
  readonly held: readonly Held[];
}

export function deletionsOf(input: DeletionsInput): Deletions {
  const { candidates, kept } = withoutProtected(input);
  const keptOwners = new Set([...input.heldOwners, ...kept.map(({ resource }) => heldOwner(resource))]);
  const { going, held: problematic } = sortOut({ ...input, heldOwners: keptOwners }, candidates);
  const held = [...kept, ...problematic];
  const needed = stillReferredTo(input, going);
  const stays = new Set(needed.map(({ resource }) => keyOf(resource)));
  // What stays keeps its children, which nothing desires either.
  const heldOwners = new Set([...keptOwners, ...needed.map(({ resource }) => heldOwner(resource))]);
  const others = going.filter((object) => !stays.has(keyOf(idOf(object))));
  const rest = needed.length === 0 ? { going, held: [] } : sortOut({ ...input, heldOwners }, others);
  return withoutInhabited(input, { going: rest.going, held: [...held, ...needed, ...rest.held] });
}

/** What its annotation protects stays, and so does its owner, with which the garbage collector would delete it. */
function withoutProtected({ surplus, leftAlone }: DeletionsInput): { candidates: KubeObject[]; kept: Held[] } {
  const reasons = new Map<string, string>();
  for (const object of surplus) {
    const protection = protectionOf(object);
    if (protection === undefined) continue;
    const { namespace = '' } = object.metadata;
    for (const owner of ownersOf(object)) {
      reasons.set(`${namespace}/${owner}`, `its child ${formatId(idOf(object))} has ${protection}`);
    }
  }
  const candidates: KubeObject[] = [];
  const kept: Held[] = [...leftAlone.values()];
  for (const object of surplus) {
    const resource = idOf(object);
    if (leftAlone.has(keyOf(resource))) continue;
    const protection = protectionOf(object);
    const reason = protection === undefined ? reasons.get(heldOwner(resource)) : `it has ${protection}`;
    if (reason === undefined) candidates.push(object);
    else kept.push({ resource, reason });
  }
  return { candidates, kept };
}

/** Everything in a namespace goes with it. */
function withoutInhabited({ inhabited }: DeletionsInput, { going, held }: Deletions): Deletions {
  const stayers = new Set([...inhabited, ...held.flatMap(({ resource }) => resource.namespace ?? [])]);
  const needed = going.filter((object) => isNamespace(object) && stayers.has(object.metadata.name));
  const reasons = needed.map((object) => ({ resource: idOf(object), reason: 'something in it stays' }));
  return { going: going.filter((object) => !needed.includes(object)), held: [...held, ...reasons] };
}

function isNamespace({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === 'v1' && kind === 'Namespace';
}

function sortOut(input: HoldInput, objects: readonly KubeObject[]): { going: KubeObject[]; held: Held[] } {
  const going: KubeObject[] = [];
  const held: Held[] = [];
  for (const object of objects) {
    const reason = holdReason(input, object);
    if (reason === undefined) going.push(object);
    else held.push({ resource: idOf(object), reason });
  }
  return { going, held };
}

/** Until nothing changes: what stays because of another may itself refer to a third. Children follow their owners. */
function stillReferredTo(input: DeletionsInput, candidates: readonly KubeObject[]): readonly Held[] {
  const going = new Map(candidates.map((object) => [keyOf(idOf(object)), object]));
  const held: Held[] = [];
  for (let before = -1; before !== held.length; ) {
    before = held.length;
    for (const [key, object] of going) {
      const resource = idOf(object);
      const reason = labelOf(object, OWNER) === undefined ? referenceReason(input, resource, going) : undefined;
      if (reason === undefined) continue;
      held.push({ resource, reason, referredTo: true });
      going.delete(key);
    }
  }
  return held;
}

function referenceReason(
  { referrers, unknownReferrers }: DeletionsInput,
  resource: ResourceId,
  going: ReadonlyMap<string, KubeObject>,
): string | undefined {
  const [staying, ...more] = referrers.wanted(resource).filter((referrer) => !going.has(keyOf(referrer)));
  if (staying !== undefined) {
    const others = more.length === 0 ? '' : `, and ${more.length} more`;
    return `${formatId(staying)} still refers to it${others}`;
  }
  const [unknown] = unknownReferrers;
  return unknown === undefined || !isReferable(resource)
    ? undefined
    : `nothing is known about any ${unknown}, and one may refer to it`;
}

/** Whether it could be referred to at all: by name, in its own namespace. */
function isReferable({ namespace }: ResourceId): boolean {
  return namespace !== undefined;
}
