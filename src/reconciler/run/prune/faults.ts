// Collects the faults of each source. While a source has a fault, its objects are deleted only with approval. The
// faulty object may be a renamed object, whose old name is no longer declared.

import { keyOf } from '#kubernetes/rules/object.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import { countText } from '#std/words/count-text.ts';
import type { Compared } from '../diff/compared.ts';
import { labelValue } from '../labels.ts';
import type { Gathered } from '../read/gather.ts';
import type { Resolved } from '../resolve/resolve.ts';
import { sourceOf } from './may-delete.ts';

export interface ResourceFault {
  readonly resource: ResourceId;
  /** End of a sentence that begins with the resource, such as `is invalid`. */
  readonly what: string;
}

/** Faults by value of the source label. */
export type Faults = ReadonlyMap<string, readonly ResourceFault[]>;

export interface FaultsInput {
  readonly gathered: Pick<Gathered, 'loaded' | 'invalid' | 'faulty'>;
  readonly resolved: Pick<Resolved, 'standings'>;
  readonly compared: readonly Compared[];
  /** Problems with children that exist and belong to another owner. */
  readonly foreign: readonly Problem[];
  /** Objects to leave alone. Problems with these objects are not faults. */
  readonly leftAlone: { has(key: string): boolean };
}

export function faultsOf(input: FaultsInput): Faults {
  const { gathered, resolved, compared, foreign, leftAlone } = input;
  const sources = new Map(gathered.loaded.map((each) => [keyOf(each.id), each]));
  const found = new Map<string, Map<string, ResourceFault>>();
  function note(source: string, resource: ResourceId, what: string): void {
    const key = keyOf(resource);
    if (leftAlone.has(key)) return;
    const ofSource = found.get(source) ?? new Map<string, ResourceFault>();
    if (!ofSource.has(key)) ofSource.set(key, { resource, what });
    found.set(source, ofSource);
  }
  function noteDeclared(resource: ResourceId | undefined, what: string): void {
    const declared = resource === undefined ? undefined : sources.get(keyOf(resource));
    if (declared !== undefined && declared.byHand !== true) note(labelValue(declared.source), declared.id, what);
  }
  for (const [source, ids] of gathered.faulty) for (const id of ids) note(source, id, 'is invalid');
  for (const id of gathered.invalid) noteDeclared(id, 'is invalid');
  for (const { loaded, health } of resolved.standings) {
    if (health === 'held') noteDeclared(loaded.id, 'depends on an invalid resource');
    if (health === 'refused') noteDeclared(loaded.id, 'has an unresolved problem');
  }
  for (const { resource } of foreign)
    noteDeclared(resource, 'would create an object that exists and does not belong to this instance');
  for (const { desired, preview } of compared) {
    if (preview?.result === 'refused') note(sourceOf(desired.object), desired.id, 'is refused by the API server');
  }
  return new Map([...found].map(([source, faults]) => [source, [...faults.values()]]));
}

export interface OutcomeOfResource {
  readonly action: string;
  readonly resource: ResourceId;
}

/**
 * Returns a fault for each change that was not made. `sourceOfKey` returns the value of the written object's source
 * label.
 */
export function failedFaults(
  outcomes: readonly OutcomeOfResource[],
  sourceOfKey: (key: string) => string | undefined,
): Faults {
  const stuck = outcomes.filter(({ action }) => action === 'failed' || action === 'held');
  const faults = stuck.flatMap(({ resource }): (readonly [string, ResourceFault])[] => {
    const source = sourceOfKey(keyOf(resource));
    return source === undefined ? [] : [[source, { resource, what: 'could not be applied' }]];
  });
  const bySource = Map.groupBy(faults, ([source]) => source);
  return new Map([...bySource].map(([source, each]) => [source, each.map(([, fault]) => fault)]));
}

/** Returns a sentence about the first fault, with the number of further faults. */
export function faultReason([first, ...more]: readonly ResourceFault[]): string {
  if (first === undefined) return '';
  const others =
    more.length === 0
      ? ': it'
      : ` (and ${countText(more.length, 'more resource has a problem', 'more resources have problems')}): one of them`;
  return `${formatId(first.resource)} ${first.what}${others} may be the new name of an object that would be deleted`;
}
