// Computes a pod annotation from the contents of Secrets, so that changed contents start new pods.

import { withStringData } from '#kubernetes/rules/normalise.ts';
import { canonicalJson, isObject } from '#std/json.ts';
import type { KindSettings, View } from '../kind.ts';

export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/**
 * Returns an empty object if no Secret is read. Missing Secrets and keys are part of the checksum, so their creation
 * starts new pods.
 */
export function secretChecksum(
  refs: readonly SecretKey[],
  view: View,
  { apiGroup, digest }: Pick<KindSettings, 'apiGroup' | 'digest'>,
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
