// Finds tool locks whose image digest differs from the digest of the image that the server runs.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { withoutDigest } from '#std/address/image-name.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import type { Desires } from '../desire/desire.ts';
import { problemOf } from '../read/problem-of.ts';
import type { Sourced } from '../read/sourced.ts';
import { podImages } from './pod-images.ts';

interface LocksAndChildren extends Pick<Desires, 'objects'> {
  readonly locks: readonly Sourced[];
  /** ToolLocks that apply to a server. */
  readonly counting: readonly KubeObject[];
}

/**
 * Returns one warning per tool lock whose digest differs. Ignores locks without a digest, and images without a digest.
 */
export function checkDigests({ locks, counting, objects }: LocksAndChildren): {
  readonly problems: readonly Problem[];
} {
  const counts = new Set(counting);
  const problems = locks.flatMap((lock) => {
    const { image, digest, kind } = lockedServer(lock);
    if (!counts.has(lock.object) || typeof image !== 'string' || typeof digest !== 'string') return [];
    const server = keyOf({ ...lock.id, kind: String(kind), apiVersion: '' });
    const images = objects
      .filter(({ owner }) => owner !== undefined && keyOf({ ...owner, apiVersion: '' }) === server)
      .flatMap(({ object }) => podImages(object)?.images ?? []);
    const now = images.find((each) => each.startsWith(`${withoutDigest(image)}@`) && !each.endsWith(`@${digest}`));
    if (now === undefined) return [];
    const found = now.slice(now.indexOf('@') + 1);
    const message = `definitions are locked for another digest: for ${digest}, and ${withoutDigest(image)} is ${found}. Compare them with skep lock --diff once it runs, and write the lock again`;
    return [
      problemOf(lock, { code: 'lock-digest-differs', severity: 'warning', pointer: '/spec/server/digest', message }),
    ];
  });
  return { problems };
}

function lockedServer({ object }: Sourced): JsonObject {
  const { spec } = object;
  return isObject(spec) && isObject(spec.server) ? spec.server : {};
}
