// Finds servers that appear, disappear or change their name for clients of a registry.

import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { canonicalJson, jsonEquals } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { Both } from './endpoints.ts';
import { type FleetState, keptEntries, type OpenRegistry } from './fleet.ts';

export interface RegistryImpact {
  readonly resource: ResourceId;
  readonly source: string;
  readonly action: 'appears' | 'disappears' | 'changes';
  /** Names of added servers. */
  readonly appear: readonly string[];
  readonly disappear: readonly string[];
  readonly renamed: readonly Both<string>[];
  /**
   * Changed parts of a source whose entries are not in a ConfigMap. The effect of the change on the entries is unknown.
   */
  readonly unknown: readonly ('source' | 'filter')[];
}

export function registryImpacts({ before, after }: Both<FleetState>): readonly RegistryImpact[] {
  const keys = new Set([...before.registries.keys(), ...after.registries.keys()]);
  const impacts = [...keys].flatMap((key) => impactOn(before.registries.get(key), after.registries.get(key)));
  const order = ({ resource, source }: RegistryImpact): string => `${formatId(resource)}/${source}`;
  return impacts.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
}

function impactOn(before: OpenRegistry | undefined, after: OpenRegistry | undefined): readonly RegistryImpact[] {
  const one = after ?? before;
  if (one === undefined) return [];
  const [was, is] = [before, after].map((registry) => (registry === undefined ? [] : keptEntries(registry)));
  const action = before === undefined ? 'appears' : after === undefined ? 'disappears' : 'changes';
  const head = { resource: one.id, source: one.source.name, action } as const;
  if (was === undefined || is === undefined) {
    const unknown = changedAbout(before?.source, after?.source);
    return unknown.length === 0 ? [] : [{ ...head, appear: [], disappear: [], renamed: [], unknown }];
  }
  const servers = serversImpact(was, is);
  const { appear, disappear, renamed } = servers;
  if (action === 'changes' && appear.length + disappear.length + renamed.length === 0) return [];
  return [{ ...head, ...servers, unknown: [] }];
}

function changedAbout(
  before: OpenRegistry['source'] | undefined,
  after: OpenRegistry['source'] | undefined,
): RegistryImpact['unknown'] {
  const source = !jsonEquals(before?.origin, after?.origin) || before?.format !== after?.format;
  const filter = !jsonEquals(before?.filter, after?.filter);
  return [...(source ? (['source'] as const) : []), ...(filter ? (['filter'] as const) : [])];
}

function serversImpact(
  was: readonly CatalogueEntry[],
  is: readonly CatalogueEntry[],
): Pick<RegistryImpact, 'appear' | 'disappear' | 'renamed'> {
  const [before, after] = [byName(was), byName(is)];
  const gone = [...before.values()].filter(({ name }) => !after.has(name));
  const come = [...after.values()].filter(({ name }) => !before.has(name));
  const renamed = renamedServers(gone, come);
  const [left, given] = [new Set(renamed.map((each) => each.before)), new Set(renamed.map((each) => each.after))];
  return {
    appear: entryNames(come).filter((name) => !given.has(name)),
    disappear: entryNames(gone).filter((name) => !left.has(name)),
    renamed,
  };
}

/**
 * Returns pairs of a removed and an added server with the same packages and URLs. Leaves out a removed server if
 * several added servers have its packages and URLs.
 */
function renamedServers(gone: readonly CatalogueEntry[], come: readonly CatalogueEntry[]): readonly Both<string>[] {
  const byPlace = Map.groupBy(come, howItRuns);
  return gone.flatMap((entry) => {
    const place = howItRuns(entry);
    const [only, ...more] = place === '' ? [] : (byPlace.get(place) ?? []);
    return only === undefined || more.length > 0 ? [] : [{ before: entry.name, after: only.name }];
  });
}

/** Returns the packages and URLs of the server as text; empty if the entry has neither. */
function howItRuns({ document: { packages, remotes } }: CatalogueEntry): string {
  if (packages === undefined && remotes === undefined) return '';
  return canonicalJson({ packages: packages ?? null, remotes: remotes ?? null });
}

function entryNames(entries: readonly CatalogueEntry[]): readonly string[] {
  return entries.map(({ name }) => name).sort();
}

/** Returns the entries by name. Of several versions of a server, only one is kept. */
function byName(entries: readonly CatalogueEntry[]): ReadonlyMap<string, CatalogueEntry> {
  return new Map(entries.map((entry) => [entry.name, entry]));
}
