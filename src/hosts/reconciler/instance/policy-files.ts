// Reads policies from folders, from files, and from the pack that is bundled with the program.

import { fileURLToPath } from 'node:url';
import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import type { SourceFile } from '#reconciler/run/read/source-file.ts';
import { Failure } from '#std/failure.ts';
import { formatProblem, type Problem } from '#std/problem.ts';
import { DEFAULT_API_GROUP } from '../../config/api-group.ts';
import { manifestFiles } from '../manifest-files.ts';

/** Name of the bundled pack in a list of paths. */
export const BUILTIN = 'builtin';

const PACK = fileURLToPath(new URL('../../../../policies', import.meta.url));

/**
 * Returns the policy files. The bundled pack is written for the default API group, which is replaced by `apiGroup`.
 * Throws Failure `usage` if a path contains no policies.
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
  /** Problems of policies that do not make them invalid. */
  readonly warnings: readonly Problem[];
}

/** Returns undefined if `files` is empty. Throws Failure `policies-invalid` with one line per problem. */
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
