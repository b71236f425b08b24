// The annotation by which pods follow the Secrets they read: another content, another annotation, new pods.

import { withStringData } from '#kubernetes/rules/normalise.ts';
import { canonicalJson, isObject } from '#std/json.ts';
import type { Settings, View } from '../kind.ts';

export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/** None where nothing is read. A Secret or key that does not exist counts as such, and its coming starts new pods. */
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
