// Reads the entries of registry sources from ConfigMaps in the manifests.

import type { RegistrySource } from '#contracts/registry/source.ts';
import { configMapText } from '#kubernetes/rules/content.ts';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import type { View } from '../../kinds/kind.ts';

/**
 * Returns the entries of a source; undefined if the source is not a ConfigMap, or if the view has no ConfigMap with a
 * valid registry file.
 */
export type ReadEntries = (
  source: Pick<RegistrySource, 'origin' | 'format'>,
  view: View,
) => readonly CatalogueEntry[] | undefined;

/** Returns a reader that parses each text once. */
export function entriesReader(): ReadEntries {
  const read = new Map<string, readonly CatalogueEntry[] | undefined>();
  return ({ origin, format }, view) => {
    if (origin.type !== 'configMap') return undefined;
    const text = configMapText(view.find('ConfigMap', origin.name), origin.key);
    if (text === undefined) return undefined;
    const key = `${format} ${text}`;
    if (!read.has(key)) {
      const parsed = parseRegistry(format, text, `ConfigMap ${origin.name} key ${origin.key}`);
      read.set(key, parsed.ok ? parsed.entries : undefined);
    }
    return read.get(key);
  };
}
