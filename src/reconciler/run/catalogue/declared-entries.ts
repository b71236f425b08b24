// Reads the entries of registry sources from manifests: from ConfigMaps that are declared next to the registries.

import type { RegistrySource } from '#contracts/registry/source.ts';
import { configMapText } from '#kubernetes/rules/content.ts';
import type { Entry } from '#registry/catalogue/entry.ts';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import type { View } from '../../kinds/kind.ts';

/** Returns undefined if the source is not in a ConfigMap of the view, or the content is not a registry file. */
export type ReadEntries = (
  source: Pick<RegistrySource, 'origin' | 'format'>,
  view: View,
) => readonly Entry[] | undefined;

/** Returns a reader that parses equal texts once. */
export function entriesReader(): ReadEntries {
  const read = new Map<string, readonly Entry[] | undefined>();
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
