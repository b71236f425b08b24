// Lists facts that a plan against a snapshot cannot determine, as texts for readers of the plan.

import { keyOf } from '#kubernetes/rules/object.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { Plan } from '../plan/plan.ts';
import type { Gathered } from '../read/gather.ts';
import { hasUnknownKeys, keysNamedBy } from './assumed-keys.ts';
import type { PlanBinding } from './plan-file.ts';
import type { StateSnapshot } from './state-snapshot-format.ts';

export interface Against {
  /** Time at which the cluster was read, in RFC 3339. */
  readonly createdAt: string;
  /** Commits by name of the source. */
  readonly commits: Readonly<Record<string, string>>;
  /**
   * Unknown facts as noun phrases. Changes to the cluster after the snapshot are always unknown, and are not listed.
   */
  readonly unknown: readonly string[];
}

interface PlannedHere {
  readonly gathered: Pick<Gathered, 'loaded'>;
  readonly plan: Plan;
}

export function againstOf(
  snapshot: StateSnapshot,
  here: Pick<PlanBinding, 'tool' | 'settings'>,
  prepared: PlannedHere,
): Against {
  const { createdAt, sources } = snapshot;
  const unknown = [
    ...otherProgram(snapshot, here),
    ...drift(snapshot),
    ...foreignContent(snapshot, prepared),
    ...foreignKeys(snapshot, prepared),
    ...elsewhere(snapshot, prepared),
    ...strangers(snapshot),
    ...approvals(prepared),
    ...answers(prepared),
  ];
  return { createdAt, commits: Object.fromEntries(sources.map(({ name, commit }) => [name, commit])), unknown };
}

function otherProgram(snapshot: StateSnapshot, here: Pick<PlanBinding, 'tool' | 'settings'>): string[] {
  const names = [...new Set([...Object.keys(snapshot.settings), ...Object.keys(here.settings)])].sort();
  const differing = names.filter((name) => snapshot.settings[name] !== here.settings[name]);
  const program =
    snapshot.tool.digest === here.tool.digest
      ? []
      : [
          `the differences between two builds: ${snapshot.tool.name} keeps the cluster, and ${here.tool.name} makes this plan`,
        ];
  const settings =
    differing.length === 0
      ? []
      : [`settings that differ from the settings of the instance (${differing.join(', ')}), and their effect`];
  return [...program, ...settings];
}

function drift({ objects }: StateSnapshot): string[] {
  const drifted = objects.filter(({ state }) => state === 'drifted').map(({ resource }) => resource);
  return drifted.length === 0
    ? []
    : [`the live values of objects that others changed in the cluster: ${some(drifted)}`];
}

/** Describes ConfigMaps to which a resource refers and that are not in Git. Only their keys are known. */
function foreignContent(snapshot: StateSnapshot, { gathered }: PlannedHere): string[] {
  const declared = new Set(gathered.loaded.map(({ id }) => keyOf(id)));
  const read = gathered.loaded.flatMap(({ id: { namespace = '' }, kind, defaulted }) => {
    if (kind === undefined || defaulted === undefined) return [];
    const names = kind.references(defaulted).filter((reference) => reference.kind === 'ConfigMap');
    return names.map(({ name }) => keyOf({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name }));
  });
  const undeclared = new Set(read.filter((key) => !declared.has(key)));
  const found = snapshot.objects.filter(
    ({ resource, state }) => state === 'foreign' && undeclared.has(keyOf(resource)),
  );
  if (found.length === 0) return [];
  return [
    `the contents of ConfigMaps that are not in Git, and their effects: ${some(found.map(({ resource }) => resource))}`,
  ];
}

/** Describes objects whose keys are unknown. Keys to which manifests refer are assumed to exist. */
function foreignKeys(snapshot: StateSnapshot, { gathered }: PlannedHere): string[] {
  const named = new Set(gathered.loaded.flatMap(keysNamedBy).map(([object]) => object));
  const found = snapshot.objects.filter((known) => hasUnknownKeys(known) && named.has(keyOf(known.resource)));
  return found.length === 0
    ? []
    : [`the keys of objects that are not in Git: ${some(found.map(({ resource }) => resource))}`];
}

function elsewhere(snapshot: StateSnapshot, { gathered }: PlannedHere): string[] {
  const known = new Set(snapshot.namespaces);
  const declared = new Set(gathered.loaded.filter(({ id }) => id.kind === 'Namespace').map(({ id }) => id.name));
  const namespaces = new Set(gathered.loaded.flatMap(({ id }) => id.namespace ?? []));
  const fresh = [...namespaces].filter((name) => !known.has(name) && !declared.has(name)).sort();
  return fresh.length === 0 ? [] : [`the objects in namespaces that this instance had nothing in: ${fresh.join(', ')}`];
}

function strangers({ objects }: StateSnapshot): string[] {
  const found = objects.filter(({ state, resource }) => state === 'foreign' && resource.apiVersion.includes('.'));
  const custom = found.map(({ resource }) => resource).filter(({ apiVersion }) => !apiVersion.includes('k8s.io/'));
  return custom.length === 0 ? [] : [`the references of custom resources of other managers: ${some(custom)}`];
}

function approvals({ plan }: PlannedHere): string[] {
  return plan.waiting.length > 0 ? ['whether the deletions that wait have been approved'] : [];
}

function answers({ plan }: PlannedHere): string[] {
  const written = plan.batches.some(({ changes }) => changes.some(({ action }) => action !== 'delete'));
  return written ? ['whether the API server refuses a change, or requires that an object is replaced'] : [];
}

const SHOWN = 5;

function some(ids: readonly ResourceId[]): string {
  const more = ids.length > SHOWN ? `, and ${ids.length - SHOWN} more` : '';
  return `${ids.slice(0, SHOWN).map(formatId).join(', ')}${more}`;
}
