// Finds resources that would create the same object, or an object that Git declares. Only one of these resources may
// create the object. The other resources are refused.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { LoadedResource } from '../read/load.ts';

export interface CollisionInput {
  /**
   * All resources except resources in the state `held`. A later stage, `withoutForeign`, finds conflicts with the live
   * children of held resources.
   */
  readonly loaded: readonly LoadedResource[];
  readonly living: (id: ResourceId) => KubeObject | undefined;
}

interface Claim {
  readonly object: ResourceId;
  readonly claimants: readonly ResourceId[];
}

/** Returns findings by key of the refused resource. */
export function collisions(input: CollisionInput): ReadonlyMap<string, readonly Finding[]> {
  const lost = new Map<string, { readonly loser: ResourceId; readonly winner: ResourceId; objects: ResourceId[] }>();
  for (const { object, claimants } of contested(input.loaded)) {
    const winner = winnerOf(input, object, claimants);
    for (const loser of claimants) {
      if (keyOf(loser) === keyOf(winner)) continue;
      const pair = `${keyOf(loser)} ${keyOf(winner)}`;
      const found = lost.get(pair);
      if (found === undefined) lost.set(pair, { loser, winner, objects: [object] });
      else found.objects.push(object);
    }
  }
  const findings = new Map<string, Finding[]>();
  for (const { loser, winner, objects } of lost.values()) {
    const key = keyOf(loser);
    findings.set(key, [...(findings.get(key) ?? []), collision(winner, objects)]);
  }
  return findings;
}

/** Returns the objects that more than one resource declares or creates. */
function contested(loaded: readonly LoadedResource[]): readonly Claim[] {
  const shared = sharedNames(loaded);
  if (shared.size === 0) return [];
  const claims = new Map<string, { readonly object: ResourceId; readonly claimants: ResourceId[] }>();
  for (const { id, kind, defaulted } of loaded) {
    const made = kind === undefined || defaulted === undefined ? [] : kind.makes(defaulted);
    for (const object of [id, ...made.map((name) => ({ ...id, ...name }))]) {
      if (!shared.has(object.name)) continue;
      const key = keyOf(object);
      const claim = claims.get(key) ?? { object, claimants: [] };
      claims.set(key, claim);
      claim.claimants.push(id);
    }
  }
  return [...claims.values()].filter(({ claimants }) => claimants.length > 1);
}

/**
 * Returns the names that several resources of a namespace use, for objects of any kind. Only these few names are
 * compared by kind, because a fleet creates ten times as many objects as it declares.
 */
function sharedNames(loaded: readonly LoadedResource[]): ReadonlySet<string> {
  const shared = new Set<string>();
  const namespaces = new Map<string, Map<string, ResourceId>>();
  for (const { id, kind, defaulted } of loaded) {
    const namespace = id.namespace ?? '';
    const first = namespaces.get(namespace) ?? new Map<string, ResourceId>();
    namespaces.set(namespace, first);
    noteName(first, id.name, id, shared);
    if (kind === undefined || defaulted === undefined) continue;
    for (const { name } of kind.makes(defaulted)) noteName(first, name, id, shared);
  }
  return shared;
}

function noteName(first: Map<string, ResourceId>, name: string, id: ResourceId, shared: Set<string>): void {
  const other = first.get(name);
  if (other === undefined) first.set(name, id);
  else if (other !== id) shared.add(name);
}

/**
 * Returns the resource that gets the object. The order of precedence is: the resource that is the declared object, the
 * owner of the live object, the oldest resource, the first declared resource.
 */
function winnerOf({ living }: CollisionInput, object: ResourceId, claimants: readonly ResourceId[]): ResourceId {
  const declared = claimants.find((id) => keyOf(id) === keyOf(object));
  const owners = living(object)?.metadata.ownerReferences ?? [];
  const controller = owners.find((reference) => reference.controller === true);
  const owner = claimants.find(({ kind, name }) => kind === controller?.kind && name === controller.name);
  if (declared !== undefined || owner !== undefined) return declared ?? owner ?? object;
  const births = claimants.map((id) => ({ id, at: living(id)?.metadata.creationTimestamp ?? LATER }));
  return births.reduce((first, next) => (next.at < first.at ? next : first)).id;
}

/** Text that sorts after every time in RFC 3339. */
const LATER = '~';

function collision(winner: ResourceId, objects: readonly ResourceId[]): Finding {
  const names = objects.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  const declared = objects.some((object) => keyOf(object) === keyOf(winner));
  const whose = declared ? 'is declared by itself' : `${formatId(winner)} creates too`;
  const message = `would create ${names}, which ${whose}: rename one of the two`;
  return { code: 'child-collision', severity: 'error', pointer: '/metadata/name', message };
}
