// Stores pairs of a desired and a live object for which a dry run has shown that an apply changes nothing.

import { lastingJson } from '#kubernetes/rules/large-values.ts';
import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import { Failure } from '#std/failure.ts';
import { digest, fnv1a32, sha256 } from '#std/hash.ts';
import { jsonEquals } from '#std/json.ts';
import type { Clock, Cluster } from '../ports.ts';

/** Stores results of dry runs by key. Only this file knows the format of keys and values. */
export interface Remembered {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

/**
 * Results of dry runs. A result is valid for about an hour, and only while the admission configurations are unchanged:
 * admission may change although the object does not.
 */
export interface Certainty {
  isKnown(desired: KubeObject, live: KubeObject): Promise<boolean>;
  /** Stores that an apply of `desired` does not change `live`. */
  remember(desired: KubeObject, live: KubeObject): Promise<void>;
}

export interface CertaintyDeps {
  readonly remembered: Remembered;
  readonly cluster: Pick<Cluster, 'resources' | 'list'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Opens the results for one run. The admission configurations are read at most once, and only if a result is looked up
 * or stored.
 */
export function openCertainty({ remembered, cluster, clock }: CertaintyDeps, manager: string): Certainty {
  let admission: Promise<string> | undefined;
  function readAdmission(): Promise<string> {
    admission ??= admissionVersions(cluster);
    return admission;
  }
  return {
    async isKnown(desired, live) {
      const [until, versions, print] = remembered.get(keyFor(desired, live))?.split(' ') ?? [];
      if (print !== fingerprint(live, manager) || !(clock.now() < Number(until))) return false;
      return versions === (await readAdmission());
    },
    async remember(desired, live) {
      const key = keyFor(desired, live);
      remembered.set(key, `${clock.now() + lifetimeOf(key)} ${await readAdmission()} ${fingerprint(live, manager)}`);
    },
  };
}

const HOUR_MS = 3_600_000;

/** Returns a duration of 45 to 75 minutes in milliseconds, so that results of one run expire in different runs. */
function lifetimeOf(key: string): number {
  const spread = Number.parseInt(fnv1a32(key), 16) / 2 ** 32;
  return Math.round(HOUR_MS * (0.75 + spread / 2));
}

/**
 * Returns a digest of the mutating admission configurations. If they cannot be read, they are regarded as unchanged:
 * the age of a result then limits its validity.
 */
async function admissionVersions(cluster: CertaintyDeps['cluster']): Promise<string> {
  const served = await cluster.resources().catch(versionsUnknown);
  const kinds = (served ?? []).filter(
    ({ apiVersion, kind }) => groupOf(apiVersion) === 'admissionregistration.k8s.io' && kind.startsWith('Mutating'),
  );
  const lists = await Promise.all(kinds.map((kind) => cluster.list(kind).catch(versionsUnknown)));
  return digest(lists.map((list) => list?.map(({ metadata }) => [metadata.uid ?? '', metadata.generation ?? 0])));
}

function versionsUnknown(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error;
}

/**
 * Returns true if the objects are equal except for the status and for fields that every apply changes: resourceVersion,
 * generation, and the times and order of managed fields.
 */
export function sameContent(a: KubeObject, b: KubeObject): boolean {
  return jsonEquals(content(a), content(b)) && jsonEquals(entries(a), entries(b));
}

function keyFor(desired: KubeObject, live: KubeObject): string {
  return `${live.metadata.uid ?? ''}:${sha256(lastingJson(desired))}`;
}

function fingerprint(live: KubeObject, manager: string): string {
  return sha256(lastingJson([content(live), entryOf(live, manager)?.fieldsV1 ?? null]));
}

function content(object: KubeObject): unknown {
  const { status: _status, metadata, ...rest } = object;
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function entries(object: KubeObject): unknown {
  const all = (object.metadata.managedFields ?? []).map(({ time: _time, ...entry }) => entry);
  return all.map((entry) => digest(entry)).sort();
}
