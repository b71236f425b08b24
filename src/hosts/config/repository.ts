// Finds the folders of a config repository that `skep validate` reads. In a folder with a skep.yaml it reads exactly
// the folders that the sources of that skep.yaml name, as its reconciler does.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ImagePolicy } from '#reconciler/run/images/policy.ts';
import type { Variables } from '#reconciler/run/read/substitute/variables.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { imagePolicyOf } from './image-policy.ts';
import { settingsText } from './settings-file.ts';

export interface ManifestFolder {
  /** Path of a folder or a file. */
  readonly path: string;
  /** Patterns of paths below it that are ignored. */
  readonly ignore: readonly string[];
  /** Namespace of namespaced objects that do not name one. */
  readonly namespace?: string | undefined;
  /** Values of the variables in expressions, as far as skep.yaml has them. If absent, expressions are not replaced. */
  readonly variables?: Variables;
  /** If true, the folder's reconciler may connect to some private addresses. */
  readonly allowsPrivate?: boolean;
  /** Rules by which the folder's reconciler verifies images. If absent, images are not verified. */
  readonly verify?: ImagePolicy | undefined;
}

/**
 * Returns a path without a skep.yaml unchanged. Throws Failure `config-invalid`, and `usage` if no source of the
 * skep.yaml has a folder below it: guessing other folders could check the wrong ones.
 */
export async function findManifestFolders(path: string, environment: Environment): Promise<readonly ManifestFolder[]> {
  const file = join(path, 'skep.yaml');
  const text = settingsText(file);
  if (text === undefined) return [{ path, ignore: [] }];
  const [{ readConfig }, { declaredVariables }] = await Promise.all([
    import('./read-config.ts'),
    import('#reconciler/run/read/substitute/variables.ts'),
  ]);
  const { sources, outbound, images } = readConfig({ text, file, environment });
  const verify = imagePolicyOf(images);
  const allowsPrivate = outbound.allowPrivate.length > 0 ? true : undefined;
  const folders = sources.map((source) => {
    const { name, ignore, namespace, substitute } = source;
    const variables = substitute === undefined ? {} : { variables: declaredVariables(name, substitute) };
    return { path: join(path, source.path), ignore, namespace, ...variables, allowsPrivate, verify };
  });
  const there = folders.filter((folder) => existsSync(folder.path));
  if (there.length > 0) return there;
  const named = sources.map((source) => `"${source.path}"`).join(', ');
  throw new Failure(
    'usage',
    `${file}: its sources read ${named}, and no such folder is here; name the folder with the manifests instead`,
  );
}
