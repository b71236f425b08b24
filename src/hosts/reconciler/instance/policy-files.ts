// Reads the policies that a command names: folders or files, and the pack that is bundled with the program.

import { fileURLToPath } from 'node:url';
import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import type { SourceFile } from '#reconciler/run/read/source-file.ts';
import { Failure } from '#std/failure.ts';
import { formatProblem, type Problem } from '#std/problem.ts';
import { DEFAULT_API_GROUP } from '../../config/api-group.ts';
import { manifestFiles } from '../manifest-files.ts';

/** Name of the bundled pack in a list of folders. */
export const BUILTIN = 'builtin';

const PACK = fileURLToPath(new URL('../../../../policies', import.meta.url));

/**
 * Returns the files. The API group in the bundled pack is replaced, because the pack is written for the default group.
 * Throws Failure `usage` if a path has no files.
 */
export function policyFiles(paths: readonly string[], apiGroup: string): readonly SourceFile[] {
  return paths.flatMap((path) => {
    if (path === BUILTIN) return manifestFiles(PACK).map((file) => forGroup(file, apiGroup));
    const files = manifestFiles(path);
    if (files.length === 0)
      throw new Failure('usage', `${path} contains no policies: there is no *.yaml, *.yml or *.json`);
    return files;
  });
}

function forGroup(file: SourceFile, apiGroup: string): SourceFile {
  return { ...file, text: file.text.replaceAll(DEFAULT_API_GROUP, apiGroup) };
}

export interface OpenedPolicies {
  readonly set: PolicySet;
  /** Problems of parts of a policy that have no effect. */
  readonly warnings: readonly Problem[];
}

/** Returns undefined if there are no files. Throws Failure `policies-invalid` with one line per problem. */
export async function openPolicyFiles(files: readonly SourceFile[]): Promise<OpenedPolicies | undefined> {
  if (files.length === 0) return undefined;
  const faults = files.flatMap(({ fault }) => fault ?? []);
  if (faults.length > 0) throw new Failure('policies-invalid', faults.map(formatProblem).join('\n'));
  const { readPolicies } = await import('#kubernetes/rules/policy/read.ts');
  const { set, problems } = readPolicies(files);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Failure('policies-invalid', errors.map(formatProblem).join('\n'));
  return { set, warnings: problems };
}
