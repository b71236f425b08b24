// Resolves the references of each resource, and decides its state. `healthy`: the resource can be used. `refused`: its
// children are kept unchanged. `held`: the resource and its children are kept unchanged.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { didYouMean } from '#std/closest.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import type { Kind, Reference, View } from '../../kinds/kind.ts';
import { type EnforcedImages, imageFindings, type NamespaceRegistry, registriesIn } from '../catalogue/enforcement.ts';
import type { LoadedResource } from '../read/load.ts';
import { problemOf } from '../read/problem-of.ts';
import type { Sourced } from '../read/sourced.ts';
import { collisions } from './collisions.ts';

export interface ResolveInput {
  /** Resources of all sources, including invalid resources. */
  readonly loaded: readonly Sourced[];
  /** Ids of invalid resources. Invalid resources, and resources that depend on invalid resources, are held. */
  readonly invalid: readonly ResourceId[];
  readonly kinds: readonly Kind[];
  readonly views: (namespace: string) => View;
  /**
   * Returns how much is known about an object. `listed`: the cluster was read. `failed`: the cluster could not be read.
   * Without a cluster: `declared` if all objects of the kind are manifests, `none` if further objects may exist.
   */
  readonly knowledge: (kind: string, namespace: string, name: string) => 'listed' | 'failed' | 'declared' | 'none';
  readonly images: EnforcedImages;
  /** Keys of objects to leave alone. */
  readonly leftAlone: { has(key: string): boolean };
  /** Returns the live object; always undefined without a cluster. */
  readonly living: (id: ResourceId) => KubeObject | undefined;
}

export type Health = 'healthy' | 'refused' | 'held';

export interface Standing {
  readonly loaded: Sourced;
  readonly health: Health;
  /** Findings about the resource. Errors among the findings, or an invalid dependency, are the cause of the state. */
  readonly findings: readonly Finding[];
}

export interface Resolved {
  readonly standings: readonly Standing[];
  readonly problems: readonly Problem[];
}

export function resolve(input: ResolveInput): Resolved {
  const standings = standingsOf(input);
  const problems = standings.flatMap(({ loaded, findings }) => findings.map((finding) => problemOf(loaded, finding)));
  return { standings, problems: [...problems, ...missingOfHeld(input, standings)] };
}

/** Returns problems about missing references of held resources, so that one run shows all mistakes. */
function missingOfHeld(input: ResolveInput, standings: readonly Standing[]): readonly Problem[] {
  const held = standings.filter(({ loaded, health }) => health === 'held' && !input.leftAlone.has(keyOf(loaded.id)));
  if (held.length === 0) return [];
  const declared = new Set(input.loaded.map(({ id }) => referenceName(id.namespace, id.kind, id.name)));
  return held.flatMap(({ loaded }) => {
    const { id, kind, defaulted = loaded.legible } = loaded;
    if (kind === undefined || defaulted === undefined) return [];
    const view = input.views(id.namespace ?? '');
    return kind
      .references(defaulted)
      .filter(
        ({ kind: target, name }) => name !== undefined && !declared.has(referenceName(id.namespace, target, name)),
      )
      .flatMap((reference) => missingFinding(input, view, loaded, reference))
      .map((finding) => problemOf(loaded, finding));
  });
}

function standingsOf(input: ResolveInput): readonly Standing[] {
  const held = heldKeys(input);
  const free = input.loaded.filter(({ id }) => !held.has(keyOf(id)));
  const collided = collisions({ loaded: free, living: input.living });
  const resolving = { ...input, held, collided, registries: registriesByNamespace(input) };
  const byName = new Map(
    input.loaded.map((loaded) => [referenceName(loaded.id.namespace, loaded.id.kind, loaded.id.name), loaded]),
  );
  const known = new Map<Sourced, Standing>();
  function standingOf(loaded: Sourced): Standing {
    const before = known.get(loaded);
    if (before !== undefined) return before;
    const own = ownStanding(resolving, loaded);
    // Stored before the recursion, because resources may refer to each other in a cycle.
    known.set(loaded, own);
    const standing = own.health === 'healthy' ? afterNeeded(own, neededStanding) : own;
    known.set(loaded, standing);
    return standing;
  }
  function neededStanding(name: string): Standing | undefined {
    const needed = byName.get(name);
    return needed === undefined ? undefined : standingOf(needed);
  }
  return input.loaded.map(standingOf);
}

interface Judging extends Resolving {
  readonly held: ReadonlyMap<string, ResourceId>;
  readonly collided: ReturnType<typeof collisions>;
}

function ownStanding(input: Judging, loaded: Sourced): Standing {
  if (input.leftAlone.has(keyOf(loaded.id))) return { loaded, health: 'held', findings: [] };
  const blocker = input.held.get(keyOf(loaded.id));
  if (blocker !== undefined) return { loaded, health: 'held', findings: heldFindings(loaded.id, blocker) };
  const findings = [...findingsOf(input, loaded), ...(input.collided.get(keyOf(loaded.id)) ?? [])];
  return { loaded, health: findings.some(isError) ? 'refused' : 'healthy', findings };
}

/** Refuses a resource that refers to a refused resource, because its children would depend on an unusable object. */
function afterNeeded(standing: Standing, standingOf: (name: string) => Standing | undefined): Standing {
  const { loaded, findings } = standing;
  const { id, kind, defaulted } = loaded;
  if (kind === undefined || defaulted === undefined) return standing;
  const refusals = kind.references(defaulted).flatMap((reference): Finding[] => {
    const { pointer, optional } = reference;
    if (optional !== undefined) return [];
    const needed = standingOf(referenceName(id.namespace, reference.kind, reference.name));
    if (needed?.health !== 'refused') return [];
    const why = needed.findings.filter(isError).map((finding) => finding.message);
    const message = `${reference.kind} "${reference.name}" cannot be used: ${why.join('; ')}`;
    return [{ code: 'needs-refused', severity: 'error', pointer, message }];
  });
  if (refusals.length === 0) return standing;
  return { loaded, health: 'refused', findings: [...findings, ...refusals] };
}

function isError({ severity }: Finding): boolean {
  return severity === 'error';
}

interface Resolving extends ResolveInput {
  readonly registries: (namespace: string) => readonly NamespaceRegistry[];
}

/** Returns a function that finds the registries of each namespace once. */
function registriesByNamespace({ views, kinds }: ResolveInput): Resolving['registries'] {
  const found = new Map<string, readonly NamespaceRegistry[]>();
  return (namespace) => {
    const registries = found.get(namespace) ?? registriesIn(views(namespace), kinds);
    found.set(namespace, registries);
    return registries;
  };
}

function findingsOf(input: Resolving, loaded: LoadedResource): readonly Finding[] {
  const { kind, defaulted } = loaded;
  if (kind === undefined || defaulted === undefined) return [];
  const namespace = loaded.id.namespace ?? '';
  const view = input.views(namespace);
  const references = kind.references(defaulted);
  const required = references.filter(({ optional }) => optional === undefined);
  const findings = [
    ...kind.rules(defaulted, loaded.object.spec),
    ...references.flatMap((reference) => missingFinding(input, view, loaded, reference)),
    ...imageFindings(kind, defaulted, input.registries(namespace), input.images),
  ];
  // `inspect` needs all required objects. Without a cluster, some required objects may be unknown.
  const complete = required.every(({ kind: target, name }) => view.find(target, name) !== undefined);
  return complete ? [...findings, ...kind.inspect(defaulted, view)] : findings;
}

/** Kinds whose content does not affect children. */
const NAMED_ONLY: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'ServiceAccount']);

/**
 * Returns an error for a missing required object, and at most a warning for a missing optional object. An unreadable
 * object is an error even if it is optional: without its content, pods would restart. `NAMED_ONLY` kinds have no such
 * content.
 */
function missingFinding(input: ResolveInput, view: View, loaded: LoadedResource, reference: Reference): Finding[] {
  const { pointer, kind, name, key, optional } = reference;
  const target = view.find(kind, name);
  const namespace = loaded.id.namespace ?? '';
  const knowledge = input.knowledge(kind, namespace, name);
  if (target === undefined && knowledge === 'none') return [];
  const severity = optional === undefined ? 'error' : 'warning';
  if (target === undefined && knowledge === 'failed') {
    const finding = unknownFinding(pointer, kind, namespace, name);
    if (!NAMED_ONLY.has(kind)) return [finding];
    return optional === 'allowed' ? [] : [{ ...finding, severity }];
  }
  if (optional === 'allowed') return [];
  if (target === undefined) {
    const where = knowledge === 'declared' ? ' among these manifests' : ', neither in Git nor in the cluster';
    const others = view.all(kind).map(({ metadata }) => metadata.name);
    const near = didYouMean(name, others);
    const message = `no ${kind} "${name}" in namespace ${namespace}${where}${near === '' ? '' : `.${near}`}`;
    return [{ code: 'reference-missing', severity, pointer, message }];
  }
  if (key === undefined || keysOf(target).includes(key)) return [];
  const message = `${kind} "${name}" in namespace ${namespace} has no key "${key}"`;
  return [{ code: 'reference-key-missing', severity, pointer, message }];
}

export function unknownFinding(pointer: string, kind: string, namespace: string, name: string): Finding {
  const message = `it is unknown whether ${kind} "${name}" exists in namespace ${namespace}, and its content: it could not be read`;
  return { code: 'reference-unknown', severity: 'error', pointer, message };
}

/** Returns the keys in all data fields of a ConfigMap or Secret. */
function keysOf(target: KubeObject): string[] {
  const members = [target.data, target.binaryData, target.stringData];
  return members.flatMap((member) => (typeof member === 'object' && member !== null ? Object.keys(member) : []));
}

/** Returns the keys of all objects to be held, each with the invalid resource on which the object depends. */
function heldKeys(input: ResolveInput): ReadonlyMap<string, ResourceId> {
  const held = new Map(input.invalid.map((id) => [keyOf(id), id]));
  if (held.size === 0) return held;
  const dependents = dependentsOf(input.loaded);
  const queue = [...input.invalid];
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    for (const dependent of dependents.get(referenceName(id.namespace, id.kind, id.name)) ?? []) {
      if (held.has(keyOf(dependent))) continue;
      held.set(keyOf(dependent), held.get(keyOf(id)) ?? id);
      queue.push(dependent);
    }
  }
  return held;
}

function dependentsOf(loaded: readonly LoadedResource[]): ReadonlyMap<string, readonly ResourceId[]> {
  const dependents = new Map<string, ResourceId[]>();
  for (const { id, kind, defaulted } of loaded) {
    if (kind === undefined || defaulted === undefined) continue;
    for (const reference of kind.references(defaulted)) {
      const target = referenceName(id.namespace, reference.kind, reference.name);
      const ids = dependents.get(target);
      if (ids === undefined) dependents.set(target, [id]);
      else ids.push(id);
    }
  }
  return dependents;
}

function referenceName(namespace: string | undefined, kind: string, name: string): string {
  return `${namespace ?? ''}/${kind}/${name}`;
}

/** Returns a finding for a held resource that depends on an invalid resource, but none for the invalid one. */
function heldFindings(id: ResourceId, blocker: ResourceId): Finding[] {
  if (keyOf(id) === keyOf(blocker)) return [];
  const message = `kept unchanged: it depends on ${formatId(blocker)}, which is invalid`;
  return [{ code: 'held-by-invalid', severity: 'warning', pointer: '', message }];
}
