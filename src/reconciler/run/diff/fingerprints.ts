// Computes digests that stand for an object in files that leave the cluster: one for our live fields, and one for the
// desired object. Values cannot be read from the digests, and the content of a Secret cannot be guessed either.

import { lastingJson, shortenObject } from '#kubernetes/rules/large-values.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import { ownedValues } from '#kubernetes/rules/ownership/owned-values.ts';
import { hmacSha256, sha256 } from '#std/hash.ts';
import type { Change } from '../plan/plan.ts';

export interface Fingerprints {
  /**
   * Returns the digest of a live object: of the fields that this instance owns, with their values, and of the
   * difference that a plan shows. Undefined for a Secret if there is no key.
   */
  ofLive(live: KubeObject, diff: Change['diff']): string | undefined;
  /** Returns the digest of the object that will be applied, without the owner's uid, which may be unknown yet. */
  desired(object: KubeObject, owned: boolean): string | undefined;
}

/** `key` is the key for the digests of Secrets; undefined if it does not exist or may not be read. */
export function fingerprintsBy(manager: string, key: Uint8Array | undefined): Fingerprints {
  function print({ kind }: KubeObject, value: unknown): string | undefined {
    if (kind !== 'Secret') return sha256(lastingJson(value));
    return key === undefined ? undefined : hmacSha256(key, lastingJson(value));
  }
  return {
    ofLive(found, diff) {
      // The digest must not depend on whether long values were read.
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
