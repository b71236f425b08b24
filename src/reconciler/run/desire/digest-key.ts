// Reads and creates the key of digests. A digest replaces the content of a Secret in public places, such as annotations
// of a pod. Without a key, a person could compare guessed passwords with the digest. The first run that needs the key
// creates it in a Secret of the home namespace.

import { Failure } from '#std/failure.ts';
import { hmacSha256 } from '#std/hash.ts';
import { isObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { SyncMode } from '../instance.ts';
import { fieldManager } from '../labels.ts';
import type { Cluster } from '../ports.ts';
import type { Random } from './generated.ts';

export interface DigestKey {
  /** Returns the key; undefined if it was neither found nor created yet. */
  known(): Uint8Array | undefined;
  /** Reads the key from the cluster. Throws Failure if the Secret cannot be read. */
  find(): Promise<void>;
  /** Creates the key; may be called only while the run holds the Lease. Throws Failure if the key cannot be written. */
  make(random: Random): Promise<void>;
}

/** Text in place of each digest while the key does not exist. A constant text keeps repeated plans equal. */
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

/** Returns a digest function, and a function that reports whether a digest was needed without a key. */
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
 * Returns the result of `work`. The key is read only if `work` needs a digest and the key is not known yet. `unsealed`
 * is true if no key was found, so that the result contains placeholders. With mode `read`, a missing permission to read
 * the key is not an error.
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
