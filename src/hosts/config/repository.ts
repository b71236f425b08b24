// What `skep validate` reads of a config repository: a folder with a skep.yaml is checked as its reconciler reads it, which
// is what the sources name below it, and nothing else.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ImagePolicy } from '#reconciler/run/images/policy.ts';
import type { Variables } from '#reconciler/run/read/substitute/variables.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { imagePolicyOf } from './image-policy.ts';
import { settingsText } from './settings-file.ts';

export interface ManifestFolder {
  /** A folder, or a file. */
  readonly path: string;
  /** Patterns of paths below it that are not read. */
  readonly ignore: readonly string[];
  /** Namespace of namespaced objects that name none. */
  readonly namespace?: string | undefined;
  /** Values for expressions, as far as skep.yaml has them; absent: expressions stay. */
  readonly variables?: Variables;
  /** Its reconciler may connect to some private addresses. */
  readonly allowsPrivate?: boolean;
  /** Its reconciler verifies images; absent: none. */
  readonly verify?: ImagePolicy | undefined;
}

/**
 * Any other path stays as it is. Throws Failure `config-invalid`, and `usage` where no source has a folder there: it is
 * not guessed what else may be meant.
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
