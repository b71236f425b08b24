// Finds the images that enforcing registries list, from ConfigMaps in the manifests. Validation needs neither a cluster
// nor a catalogue for this.

import type { RegistrySource } from '#contracts/registry/source.ts';
import { entryFilter } from '#registry/catalogue/filter.ts';
import type { Problem } from '#std/problem.ts';
import type { View } from '../../kinds/kind.ts';
import type { LoadedResource } from '../read/load.ts';
import { problemOf } from '../read/problem-of.ts';
import { entriesReader, type ReadEntries } from './declared-entries.ts';
import { type EnforcedImages, registriesIn } from './enforcement.ts';

export interface DeclaredImages {
  readonly images: EnforcedImages;
  /** One warning for each registry with a source outside the manifests, because validation cannot read that source. */
  readonly problems: readonly Problem[];
}

export function declaredImages(loaded: readonly LoadedResource[], views: (namespace: string) => View): DeclaredImages {
  const images = new Map<string, ReadonlySet<string>>();
  const problems: Problem[] = [];
  const read = entriesReader();
  for (const each of loaded) {
    const { id, kind, defaulted } = each;
    if (kind === undefined || defaulted === undefined || kind.sources(defaulted).length === 0) continue;
    const view = views(id.namespace ?? '');
    if (!registriesIn(view, [kind]).some(({ enforces }) => enforces)) continue;
    const sources = kind.sources(defaulted).map((source) => ({ source, held: imagesOf(read, source, view) }));
    const elsewhere = sources.filter(({ held }) => held === undefined).map(({ source }) => source.name);
    if (elsewhere.length > 0) problems.push(problemOf(each, notChecked(elsewhere, kind.enforces(defaulted))));
    else images.set(`${id.namespace ?? ''}/${id.name}`, new Set(sources.flatMap(({ held }) => held ?? [])));
  }
  return { images, problems };
}

function imagesOf(read: ReadEntries, source: RegistrySource, view: View): readonly string[] | undefined {
  const kept = entryFilter(source.filter);
  return read(source, view)
    ?.filter((entry) => kept.accepts(entry))
    .flatMap((entry) => entry.images);
}

function notChecked(sources: readonly string[], enforces: boolean) {
  const message = `the images of this namespace are not checked here, for the servers of ${sources.map((name) => `"${name}"`).join(', ')} are not among these manifests: a sync checks them`;
  return {
    code: 'images-not-checked',
    severity: 'warning',
    pointer: enforces ? '/spec/enforceServers' : '/spec/registries',
    message,
  } as const;
}
