// Finds the folders that `skep validate` reads in a config repository. If a folder contains a skep.yaml, these are
// exactly the folders that the reconciler reads: the folders of its sources.

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
  /** Patterns of ignored paths below `path`. */
  readonly ignore: readonly string[];
  /** Namespace of namespaced objects whose manifests name no namespace. */
  readonly namespace?: string | undefined;
  /** Variables that the source declares for expressions. If not set, expressions are not replaced. */
  readonly variables?: Variables;
  /** True if the reconciler of the folder may connect to some private addresses. */
  readonly allowsPrivate?: boolean;
  /** Rules for the verification of images. If not set, images are not verified. */
  readonly verify?: ImagePolicy | undefined;
}

/**
 * Returns a path without a skep.yaml unchanged. Throws Failure `config-invalid`. Throws Failure `usage` if no source's
 * folder exists: guessed folders could be the wrong folders.
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
