// Computes digests of objects for files that leave the cluster. Digests of Secrets are made with a key, so that a value
// cannot be found by guessing.

import { lastingJson, shortenObject } from '#kubernetes/rules/large-values.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import { ownedValues } from '#kubernetes/rules/ownership/owned-values.ts';
import { hmacSha256, sha256 } from '#std/hash.ts';
import type { Change } from '../plan/plan.ts';

export interface Fingerprints {
  /**
   * Returns the digest of the live object's fields that this instance owns, and of the difference that the plan shows.
   * undefined for a Secret without a key.
   */
  ofLive(live: KubeObject, diff: Change['diff']): string | undefined;
  /**
   * Returns the digest of the object to apply. If `owned` is true, owner references are left out, because the uid of
   * the owner may be unknown yet.
   */
  desired(object: KubeObject, owned: boolean): string | undefined;
}

/** `key` is the key for digests of Secrets; undefined if the key does not exist or cannot be read. */
export function fingerprintsBy(manager: string, key: Uint8Array | undefined): Fingerprints {
  function print({ kind }: KubeObject, value: unknown): string | undefined {
    if (kind !== 'Secret') return sha256(lastingJson(value));
    return key === undefined ? undefined : hmacSha256(key, lastingJson(value));
  }
  return {
    ofLive(found, diff) {
      // The digest must be the same whether long values were read or not.
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
