// Decrypts documents that SOPS has encrypted in the files of a source.

import { mayBeSealed } from '#std/sops/cipher.ts';
import type { Opening, SopsKeys } from '#std/sops/open.ts';
import { isManifest, isTooLarge, type LoadCache, type SourceFile } from './source-file.ts';

/** Decrypts the files. `cache` must be in memory only, because it contains decrypted content. */
export async function unsealFiles(
  files: readonly SourceFile[],
  keysOf: () => Promise<SopsKeys>,
  cache?: LoadCache,
): Promise<readonly SourceFile[]> {
  if (!files.some(isSealed)) return files;
  const keys = await keysOf();
  const opened: SourceFile[] = [];
  for (const file of files) opened.push(isSealed(file) ? await openedFile(file, keys, cache) : file);
  return opened;
}

/** Returns a reader of keys for sources without the setting `decryption`. It returns a fault instead of keys. */
export function noKeys(source: string): () => Promise<SopsKeys> {
  const message = `The document is encrypted with SOPS, and source ${source} has no key: set decryption.ageKeyFile of it in skep.yaml.`;
  return async () => ({ type: 'none', fault: { code: 'sops-key-missing', message } });
}

/** Returns true if the file may contain encrypted values. */
export function isSealed(file: SourceFile): boolean {
  return isManifest(file.path) && !isTooLarge(file) && mayBeSealed(file.text);
}

async function openedFile(file: SourceFile, keys: SopsKeys, cache: LoadCache | undefined): Promise<SourceFile> {
  const oid = `${file.oid} ${keysDigest(keys)}`;
  const key = `sops ${oid}`;
  const known = cache?.get(key);
  if (known !== undefined) return { ...file, oid, openings: known as readonly (Opening | undefined)[] };
  const { openDocuments } = await import('#std/sops/open.ts');
  const openings = await openDocuments(file.text, keys);
  cache?.set(key, openings);
  return { ...file, oid, openings };
}

/**
 * Returns the part of the cache key that depends on the decryption keys: their digest or, without keys, the reason for
 * their absence.
 */
function keysDigest(keys: SopsKeys): string {
  return keys.type === 'keys' ? keys.keys.digest : (keys.fault?.message ?? 'sealed');
}
