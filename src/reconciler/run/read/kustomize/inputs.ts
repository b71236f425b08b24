// Finds the kustomizations of a source and builds them. Below a folder with a kustomization, only files to which the
// kustomization refers are read.

import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import type { Problem } from '#std/problem.ts';
import type { KustomizeBuilder } from '../../ports.ts';
import type { LoadCache, SourceFile } from '../source-file.ts';
import { buildDigest, buildKustomization, isCostly } from './build.ts';
import { foldersAbove, isBelow, type Tree } from './tree.ts';
import {
  isComponent,
  isKustomizationFile,
  type KustomizationWalk,
  kustomizationFolders,
  traceKustomization,
} from './walk.ts';

export interface Kustomized {
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
}

export interface KustomizationPlan {
  readonly tree: Tree;
  readonly walks: readonly KustomizationWalk[];
  readonly inputs: readonly KustomizationWalk[];
  /** Returns true for paths that must not be read as manifests: files and folders of kustomizations. */
  covers(path: string): boolean;
}

export interface KustomizationsInput {
  readonly tree: Tree;
  readonly folder: string;
  /** Returns false if the source ignores the path. */
  readonly isRead: (path: string) => boolean;
  readonly cache?: LoadCache;
}

const INPUTS_MAX = 200;
/** Maximum length of all built objects, in characters of JSON. */
const LENGTH_MAX = 256 * 1024 * 1024;
/** Maximum number of timed-out builds per reading. After that, no further kustomization is built. */
const COSTLY_MAX = 3;

/** Finds the kustomizations to build, without running a program. */
export async function planKustomizations(input: KustomizationsInput): Promise<KustomizationPlan> {
  const walks = await walkTopmost(input);
  const used = new Set(walks.flatMap((walk) => [...walk.used]));
  const folders = new Set(walks.map(({ folder }) => folder));
  const named = new Set(walks.flatMap((walk) => [...walk.files]));
  return {
    tree: input.tree,
    walks,
    inputs: inputsAmong(walks, used),
    covers: (path) => folders.has('') || named.has(path) || foldersAbove(path).some((folder) => folders.has(folder)),
  };
}

/** Returns a digest that changes with the input of the builds, and with the building program. */
export async function identifyPlan(
  { tree, walks, inputs }: KustomizationPlan,
  builder: KustomizeBuilder,
): Promise<string> {
  if (walks.length === 0) return '';
  const identity = await builder.identity().catch(failureCode);
  return digest([...inputs.map((walk) => buildDigest(identity, tree, walk)), ...walks.map(({ problems }) => problems)]);
}

function failureCode(failure: unknown): string {
  if (failure instanceof Failure) return failure.code;
  throw failure;
}

export async function buildPlanned(
  { tree, walks, inputs }: KustomizationPlan,
  builder: KustomizeBuilder,
  cache: LoadCache,
): Promise<Kustomized> {
  const files: SourceFile[] = [];
  const problems = walks.flatMap((walk) => walk.problems);
  let length = 0;
  let costly = 0;
  for (const [index, walk] of inputs.entries()) {
    if (index >= INPUTS_MAX || length > LENGTH_MAX || costly >= COSTLY_MAX) {
      problems.push(notBuilt(tree, walk));
      continue;
    }
    const built = await buildKustomization(builder, tree, walk, cache);
    length += built.files.reduce((sum, { text }) => sum + text.length, 0);
    costly += isCostly(built) ? 1 : 0;
    files.push(...built.files);
    problems.push(...built.problems);
  }
  return { files, problems: distinct(problems) };
}

/** Returns the topmost kustomizations: a kustomization in a subfolder of another kustomization is left out. */
async function walkTopmost({
  tree,
  folder,
  isRead,
  cache,
}: KustomizationsInput): Promise<readonly KustomizationWalk[]> {
  const all = kustomizationFolders(tree.list(folder).filter((path) => isKustomizationFile(path) && isRead(path)));
  const known = new Set(all);
  const isInner = (path: string): boolean =>
    ['', ...foldersAbove(path)].some((above) => above !== path && isBelow(above, folder) && known.has(above));
  const walks: KustomizationWalk[] = [];
  for (const path of all.filter((each) => !isInner(each))) walks.push(await traceKustomization(tree, path, cache));
  return walks;
}

/** Leaves out bases and components, because the kustomizations that use them are built. */
function inputsAmong(walks: readonly KustomizationWalk[], used: ReadonlySet<string>): readonly KustomizationWalk[] {
  return walks.filter((walk) => walk.problems.length === 0 && !used.has(walk.folder) && !isComponent(walk));
}

function notBuilt(tree: Tree, { kustomizations }: KustomizationWalk): Problem {
  const [file = ''] = kustomizations.keys();
  const message = `The kustomization was not built: a source has at most ${INPUTS_MAX} of them, which together may not take too long: split the source.`;
  return {
    code: 'kustomization-too-large',
    severity: 'error',
    message,
    place: { file: tree.show(file), line: 1, column: 1 },
  };
}

/** Removes duplicates: a base is read once for each kustomization that uses it. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}
