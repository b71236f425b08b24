// Digests that stand for an object in files that leave the cluster: of the fields that are ours as they exist, and of
// what is desired. Values cannot be read out of them; what a Secret holds cannot be guessed either.

import { lastingJson, shortenObject } from '#kubernetes/rules/large-values.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import { ownedValues } from '#kubernetes/rules/ownership/owned-values.ts';
import { hmacSha256, sha256 } from '#std/hash.ts';
import type { Change } from '../plan/plan.ts';

export interface Fingerprints {
  /**
   * Of a living object: what this instance owns of it, with its values, and what a plan shows as the difference. Undefined
   * for a Secret where there is no key.
   */
  seen(live: KubeObject, diff: Change['diff']): string | undefined;
  /** Of what is to be applied, but for the owner's uid, which may not be known yet. */
  desired(object: KubeObject, owned: boolean): string | undefined;
}

/** `key`: of the digests of Secrets; undefined where there is none, or it may not be read. */
export function fingerprintsBy(manager: string, key: Uint8Array | undefined): Fingerprints {
  function print({ kind }: KubeObject, value: unknown): string | undefined {
    if (kind !== 'Secret') return sha256(lastingJson(value));
    return key === undefined ? undefined : hmacSha256(key, lastingJson(value));
  }
  return {
    seen(found, diff) {
      // Whether long values were read must not matter.
      const live = shortenObject(found);
      const entry = entryOf(live, manager);
      return print(live, [entry?.apiVersion ?? '', entry?.fieldsV1 ?? {}, ownedValues(live, manager), diff]);
    },
    desired(object, owned) {
      const { ownerReferences, ...metadata } = object.metadata;
      return print(object, shortenObject(owned ? { ...object, metadata } : object));
    },
  };
}
