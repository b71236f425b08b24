// The key of digests that stand for the content of Secrets where anyone can read them, such as in a pod's annotations:
// without it, a guess at a password could be tried against its digest. It is kept in a Secret of the instance's home
// namespace, made by the first run that needs it.

import { Failure } from '#std/failure.ts';
import { hmacSha256 } from '#std/hash.ts';
import { isObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { SyncMode } from '../instance.ts';
import { fieldManager } from '../labels.ts';
import type { Cluster } from '../ports.ts';
import type { Random } from './generated.ts';

export interface DigestKey {
  /** What was found or made; undefined before, and where there is none. */
  known(): Uint8Array | undefined;
  /** Looks for it in the cluster. Throws Failure where that cannot be read. */
  find(): Promise<void>;
  /** Makes it. Only under the lock; throws Failure where it cannot be written. */
  make(random: Random): Promise<void>;
}

/** Written in place of a digest where there is no key yet: equal for every content, so a plan stays the same. */
export const NO_DIGEST = 'unknown-until-applied';

const DATA_KEY = 'digest-key';

const KEY_BYTES = 32;

export function openDigestKey(
  cluster: Pick<Cluster, 'get' | 'apply'>,
  instance: string,
  homeNamespace: string,
): DigestKey {
  const id: ResourceId = { apiVersion: 'v1', kind: 'Secret', namespace: homeNamespace, name: fieldManager(instance) };
  let key: Uint8Array | undefined;
  return {
    known: () => key,
    async find() {
      const data = (await cluster.get(id))?.data;
      const text = isObject(data) ? data[DATA_KEY] : undefined;
      if (typeof text === 'string' && text !== '') key = Buffer.from(text, 'base64');
    },
    async make(random) {
      const made = random(KEY_BYTES);
      const { apiVersion, kind, name } = id;
      const data = { [DATA_KEY]: Buffer.from(made).toString('base64') };
      const metadata = { name, namespace: homeNamespace };
      await cluster.apply({ apiVersion, kind, metadata, type: 'Opaque', data }, { force: true });
      key = made;
    },
  };
}

/** Digests with a key, and whether one was asked for that there is no key for. */
function digester(key: Uint8Array | undefined) {
  let missed = false;
  function digest(text: string): string {
    if (key !== undefined) return hmacSha256(key, text);
    missed = true;
    return NO_DIGEST;
  }
  return { digest, missed: () => missed };
}

/**
 * What `work` makes with digests. The key is looked for only where one is asked for: most runs know it, or need none.
 * `unsealed`: there is no key yet, and digests are missing. Who only reads (`mode`) may not be allowed to see it.
 */
export async function prepareWithDigests<T>(
  key: DigestKey,
  mode: SyncMode,
  work: (digest: (text: string) => string, known: Uint8Array | undefined) => T,
): Promise<{ readonly made: T; readonly unsealed: boolean }> {
  const first = digester(key.known());
  const made = work(first.digest, key.known());
  if (!first.missed()) return { made, unsealed: false };
  try {
    await key.find();
  } catch (error) {
    if (mode !== 'read' || !(error instanceof Failure) || error.code !== 'cluster-forbidden') throw error;
  }
  if (key.known() === undefined) return { made, unsealed: true };
  return { made: work(digester(key.known()).digest, key.known()), unsealed: false };
}
