// Validates folders of this machine. Returns the stored result if no input has changed since the last validation.

import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { ManifestFolder } from '#hosts/config/repository.ts';
import { programDigest } from '#hosts/program-digest.ts';
import { openPolicyFiles, policyFiles } from '#hosts/reconciler/instance/policy-files.ts';
import { openResultCache, type ResultCache, userCacheFolder } from '#hosts/reconciler/kept/result-cache.ts';
import { manifestFiles } from '#hosts/reconciler/manifest-files.ts';
import { isCostly } from '#reconciler/run/read/kustomize/build.ts';
import type { LoadCache, SourceFile } from '#reconciler/run/read/source-file.ts';
import type { ManifestValidation } from '#reconciler/run/validate.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { type Problem, sortByPlace } from '#std/problem.ts';
import type { SopsKeys } from '#std/sops/open.ts';
import { buildPlans, identifyPlans, readFolders } from './folders.ts';

export interface ValidationRequest {
  readonly folders: readonly ManifestFolder[];
  /** Files or folders with CustomResourceDefinitions. */
  readonly schemas: readonly string[];
  readonly apiGroup: string;
  /**
   * Files or folders with policies. `builtin` stands for the policies that are bundled with the program. If absent, no
   * policies are evaluated.
   */
  readonly policies?: readonly string[];
  /** File with private age keys. If absent, values that need a key are not checked. */
  readonly ageKeyFile?: string;
}

export function openUserCache(): ResultCache {
  return openResultCache(join(userCacheFolder(process.env, process.platform), 'validate'), Date.now);
}

/**
 * Validates the folders. With a stored result, does not load the modules for validation. `files` caches results of
 * single files in this process. Throws Failure `usage`.
 */
export async function runValidation(
  request: ValidationRequest,
  cache: ResultCache | undefined,
  files?: LoadCache,
): Promise<ManifestValidation> {
  const { documents: written, plans } = await readFolders(request.folders);
  const schemas = request.schemas.flatMap(definitionFiles);
  const { apiGroup } = request;
  const policies = policyFiles(request.policies ?? [], apiGroup);
  // Problems may contain decrypted content, which must not be written to disk.
  const kept = request.ageKeyFile === undefined ? cache : undefined;
  const allowsPrivate = request.folders.some((folder) => folder.allowsPrivate === true);
  const verify = request.folders.find((folder) => folder.verify !== undefined)?.verify;
  const key =
    kept === undefined
      ? ''
      : `${validationKey(written, schemas, policies, apiGroup)}${await identifyPlans(plans)}${allowsPrivate ? '-private' : ''}${verify === undefined ? '' : `-${sha256(JSON.stringify(verify))}`}`;
  const known = kept?.get(key);
  if (known !== undefined) return known as ManifestValidation;
  // All data stays in memory until the end. A larger young generation halves the number of garbage collections
  // (docs/decisions/0090).
  setFlagsFromString('--semi-space-growth-factor=8');
  const [{ KINDS }, { validate }, { unsealFiles: unsealed }, opened] = await Promise.all([
    import('#reconciler/kinds/index.ts'),
    import('#reconciler/run/validate.ts'),
    import('#reconciler/run/read/unseal.ts'),
    openPolicyFiles(policies),
  ]);
  const built = await buildPlans(plans, files ?? new Map());
  const documents = [...written, ...built.files];
  const result = validate({
    documents: await unsealed(documents, () => keysFrom(request.ageKeyFile), files),
    schemas,
    kinds: KINDS,
    apiGroup,
    cache: files,
    policies: opened?.set,
    allowsPrivate,
    verify,
  });
  const reported = withProblems(result, [...(opened?.warnings ?? []), ...built.problems]);
  if (!isCostly(built)) kept?.set(key, reported);
  return reported;
}

async function keysFrom(file: string | undefined): Promise<SopsKeys> {
  if (file === undefined) return { type: 'none' };
  const { readAgeKeyFile: ageKeysFrom } = await import('#hosts/config/age-key-file.ts');
  return ageKeysFrom(file);
}

function withProblems(result: ManifestValidation, more: readonly Problem[]): ManifestValidation {
  if (more.length === 0) return result;
  const problems = sortByPlace([...more, ...result.problems]);
  return { ...result, summary: { ...result.summary, problems: problems.length }, problems };
}

function definitionFiles(path: string): readonly SourceFile[] {
  const files = manifestFiles(path);
  if (files.length > 0) return files;
  throw new Failure('usage', `${path}: no CustomResourceDefinitions here: there is no *.yaml, *.yml or *.json`);
}

/** Returns the cache key of the result. The key includes the names of the files, because problems contain the names. */
function validationKey(
  documents: readonly SourceFile[],
  schemas: readonly SourceFile[],
  policies: readonly SourceFile[],
  apiGroup: string,
): string {
  const files = [documents, schemas, policies].map((each) =>
    each.map(({ path, oid, namespace }) => [path, oid, namespace]),
  );
  return sha256(JSON.stringify([programDigest(), apiGroup, ...files]));
}
