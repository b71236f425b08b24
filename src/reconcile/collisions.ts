// Finds resources that would make the same object, or one that Git itself declares: all but one of them are refused.
// Knows nothing about specs, and nothing about objects but their names and whose they are.

import type { Finding } from '../kube/finding.ts';
import { groupOf, type KubeObject, keyOf } from '../kube/object.ts';
import { formatId, type ResourceId } from '../std/problem.ts';
import type { LoadedResource } from './load.ts';

export interface CollisionInput {
  /** Without those that are held: what they make stays theirs by its owner reference. */
  readonly loaded: readonly LoadedResource[];
  readonly living: (id: ResourceId) => KubeObject | undefined;
}

interface Claim {
  readonly object: ResourceId;
  readonly claimants: readonly ResourceId[];
}

/** Findings by the key of the resource that they are about. */
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

/** What more than one declares or makes. Only that gets an object of its own: a fleet makes ten times what it declares. */
function contested(loaded: readonly LoadedResource[]): Iterable<Claim> {
  const first = openNames();
  for (const { id } of loaded) first(id.namespace ?? '', id.apiVersion, id.kind).set(id.name, id);
  const claims = new Map<string, Claim>();
  for (const { id, kind, defaulted } of loaded) {
    if (kind === undefined || defaulted === undefined) continue;
    for (const { apiVersion, kind: made, name } of kind.makes(defaulted)) {
      const names = first(id.namespace ?? '', apiVersion, made);
      const other = names.get(name);
      if (other === undefined) {
        names.set(name, id);
        continue;
      }
      const object = { ...id, apiVersion, kind: made, name };
      const { claimants } = claims.get(keyOf(object)) ?? { claimants: [other] };
      claims.set(keyOf(object), { object, claimants: [...claimants, id] });
    }
  }
  return claims.values();
}

type Names = Map<string, ResourceId>;

/** Names of a namespace and kind, the group counts and its version does not. No key is joined for every single object. */
function openNames(): (namespace: string, apiVersion: string, kind: string) => Names {
  const groups = new Map<string, string>();
  const names = new Map<string, Map<string, Map<string, Names>>>();
  return (namespace, apiVersion, kind) => {
    const group = inside(groups, apiVersion, () => groupOf(apiVersion));
    const kinds = inside(names, namespace, () => new Map<string, Map<string, Names>>());
    return inside(
      inside(kinds, kind, () => new Map<string, Names>()),
      group,
      () => new Map<string, ResourceId>(),
    );
  };
}

function inside<V>(map: Map<string, V>, key: string, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

/** What Git declares as such; else whose the living object is; else who was there first; else who is declared first. */
function winnerOf({ living }: CollisionInput, object: ResourceId, claimants: readonly ResourceId[]): ResourceId {
  const declared = claimants.find((id) => keyOf(id) === keyOf(object));
  const owners = living(object)?.metadata.ownerReferences ?? [];
  const controller = owners.find((reference) => reference.controller === true);
  const owner = claimants.find(({ kind, name }) => kind === controller?.kind && name === controller.name);
  if (declared !== undefined || owner !== undefined) return declared ?? owner ?? object;
  const births = claimants.map((id) => ({ id, at: living(id)?.metadata.creationTimestamp ?? LATER }));
  return births.reduce((first, next) => (next.at < first.at ? next : first)).id;
}

/** After every time of RFC 3339. */
const LATER = '~';

function collision(winner: ResourceId, objects: readonly ResourceId[]): Finding {
  const names = objects.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  const declared = objects.some((object) => keyOf(object) === keyOf(winner));
  const whose = declared ? 'is declared by itself' : `${formatId(winner)} makes too`;
  const message = `would make ${names}, which ${whose}: rename one of the two`;
  return { code: 'child-collision', severity: 'error', pointer: '/metadata/name', message };
}
