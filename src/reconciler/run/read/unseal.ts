// Opens what SOPS has encrypted among the files of a source, before anything of it is read as manifests.

import { mayBeSealed } from '#std/sops/cipher.ts';
import type { Opening, SopsKeys } from '#std/sops/open.ts';
import { isManifest, isTooLarge, type LoadCache, type SourceFile } from './source-file.ts';

/** `cache` is one in memory: it gets what was decrypted. */
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

/** For a source that has no `decryption`. */
export function noKeys(source: string): () => Promise<SopsKeys> {
  const message = `The document is encrypted with SOPS, and source ${source} has no key: set decryption.ageKeyFile of it in skep.yaml.`;
  return async () => ({ type: 'none', fault: { code: 'sops-key-missing', message } });
}

/** Whether it may hold what is encrypted. */
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

/** Other keys read otherwise what is the same text. */
function keysDigest(keys: SopsKeys): string {
  return keys.type === 'keys' ? keys.keys.digest : (keys.fault?.message ?? 'sealed');
}
