// Reads folders of manifests on this machine, and builds their kustomizations.

import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { relative } from 'node:path';
import type { ManifestFolder } from '#hosts/config/repository.ts';
import { openFolderTree } from '#hosts/reconciler/folder-tree.ts';
import { kustomizeHere } from '#hosts/reconciler/kustomize-here.ts';
import { manifestFiles } from '#hosts/reconciler/manifest-files.ts';
import {
  buildPlanned,
  identifyPlan,
  type KustomizationPlan,
  type Kustomized,
  planKustomizations,
} from '#reconciler/run/read/kustomize/inputs.ts';
import { pathMatcher } from '#reconciler/run/read/patterns.ts';
import type { LoadCache, SourceFile } from '#reconciler/run/read/source-file.ts';
import { withVariables } from '#reconciler/run/read/substitute/objects.ts';
import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';

/** Kustomizations of a folder before they are built, and the settings of the folder. */
export interface FolderPlan extends Pick<ManifestFolder, 'namespace' | 'variables'> {
  readonly plan: KustomizationPlan;
}

export interface ReadFolders {
  readonly documents: readonly SourceFile[];
  readonly plans: readonly FolderPlan[];
}

export async function readFolders(folders: readonly ManifestFolder[]): Promise<ReadFolders> {
  const read = await Promise.all(folders.map(readFolder));
  return { documents: read.flatMap(({ documents }) => documents), plans: read.flatMap(({ plans }) => plans) };
}

async function readFolder(folder: ManifestFolder): Promise<ReadFolders> {
  const { path, ignore } = folder;
  const files = manifestFiles(path, ignore);
  if (!statSync(path).isDirectory()) return { documents: withSettings(files, folder), plans: [] };
  const { tree, folder: inside } = openFolderTree(path, process.cwd());
  const ignored = pathMatcher('ignore', ignore);
  const plan = await planKustomizations({
    tree,
    folder: inside,
    isRead: (each) => !ignored(relative(inside, each)),
  });
  if (plan.walks.length === 0) return { documents: withSettings(files, folder), plans: [] };
  const covered = new Set(tree.list(inside).filter(plan.covers).map(tree.show));
  const documents = withSettings(
    files.filter((file) => !covered.has(file.path)),
    folder,
  );
  return { documents, plans: [{ ...folder, plan }] };
}

function withSettings(
  files: readonly SourceFile[],
  { namespace, variables }: Pick<ManifestFolder, 'namespace' | 'variables'>,
): readonly SourceFile[] {
  const placed = files.map((file) => ({ ...file, namespace }));
  return variables === undefined ? placed : withVariables(placed, variables);
}

/**
 * Returns all files that the kustomizations use, including files outside of the folders. Empty if the folders cannot be
 * read now.
 */
export async function listKustomizationFiles(folders: readonly ManifestFolder[]): Promise<readonly string[]> {
  try {
    const { plans } = await readFolders(folders);
    return plans.flatMap(({ plan: { tree, walks } }) =>
      walks.flatMap(({ kustomizations, files }) => [...kustomizations.keys(), ...files].map(tree.show)),
    );
  } catch (failure) {
    if (failure instanceof Failure) return [];
    throw failure;
  }
}

export async function identifyPlans(plans: readonly FolderPlan[]): Promise<string> {
  const digests = await Promise.all(
    plans.map(async ({ plan, namespace, variables }) => [
      await identifyPlan(plan, builderHere()),
      namespace,
      variables?.digest,
    ]),
  );
  return digests.length === 0 ? '' : `-${digest(digests)}`;
}

export async function buildPlans(plans: readonly FolderPlan[], cache: LoadCache): Promise<Kustomized> {
  const built: Kustomized[] = [];
  for (const { plan, ...settings } of plans) {
    const { files, problems } = await buildPlanned(plan, builderHere(), cache);
    built.push({ files: withSettings(files, settings), problems });
  }
  return { files: built.flatMap(({ files }) => files), problems: built.flatMap(({ problems }) => problems) };
}

function builderHere() {
  return kustomizeHere(tmpdir());
}
