// Computes the annotation by which pods follow their Secrets: changed content changes the annotation, which starts new
// pods.

import { withStringData } from '#kubernetes/rules/normalise.ts';
import { canonicalJson, isObject } from '#std/json.ts';
import type { Settings, View } from '../kind.ts';

export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/**
 * Returns nothing if no Secret is read. A missing Secret or key is a part of the checksum, so its creation starts new
 * pods.
 */
export function secretChecksum(
  refs: readonly SecretKey[],
  view: View,
  { apiGroup, digest }: Pick<Settings, 'apiGroup' | 'digest'>,
): Readonly<Record<string, string>> {
  if (refs.length === 0) return {};
  const contents = Object.fromEntries(
    refs.map(({ name, key }) => {
      const secret = view.find('Secret', name);
      const data = secret === undefined ? undefined : withStringData(secret).data;
      return [`${name}/${key}`, (isObject(data) ? data[key] : undefined) ?? null];
    }),
  );
  return { [`${apiGroup}/secrets-checksum`]: digest(canonicalJson(contents)) };
}
