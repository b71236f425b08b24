// Finds the program that builds kustomizations: `kustomize`, or otherwise `kubectl`, which includes kustomize.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { Failure } from '#std/failure.ts';

export interface KustomizeProgram {
  readonly path: string;
  readonly args: readonly string[];
  /** Changes if another program is installed. */
  readonly identity: string;
}

const CANDIDATES = [
  { name: 'kustomize', args: ['build'] },
  { name: 'kubectl', args: ['kustomize'] },
] as const;

/** Searches `searchPath`, which has the format of PATH. Throws Failure `kustomize-missing`. */
export async function findProgram(searchPath: string): Promise<KustomizeProgram> {
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  for (const { name, args } of CANDIDATES) {
    for (const folder of folders) {
      const identity = await identifyFile(join(folder, name));
      if (identity !== undefined) return { path: join(folder, name), args, identity };
    }
  }
  throw new Failure(
    'kustomize-missing',
    'Kustomizations are built by kustomize, and the PATH has neither "kustomize" nor "kubectl": install one of them on the machine that runs skep.',
  );
}

async function identifyFile(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return undefined;
    await access(path, constants.X_OK);
    return `${path} ${found.size} ${found.mtimeMs}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
