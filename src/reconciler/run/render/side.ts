// Reads the objects that two commits declare, without skep.yaml and without a cluster.

import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import type { JsonObject } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import type { OwnKinds } from '../instance.ts';
import type { Checkout, KustomizeBuilder } from '../ports.ts';
import { readWritten } from '../read/checkout.ts';
import { definitionsOf, type Loaded, load } from '../read/load.ts';
import { linkAt, skippedProblem } from '../read/manifests.ts';
import { parseFile } from '../read/parsed-file.ts';
import { isManifest, type LoadCache, type SourceFile } from '../read/source-file.ts';
import { LITERAL_VARIABLES } from '../read/substitute/variables.ts';
import { unsealFiles } from '../read/unseal.ts';
import { validate } from '../validate.ts';

export interface SideDeps extends OwnKinds {
  readonly cache: LoadCache;
  readonly kustomize: KustomizeBuilder;
}

export interface Side {
  readonly commit: string;
  readonly loaded: Loaded;
  /** CustomResourceDefinitions among the manifests. */
  readonly definitions: readonly JsonObject[];
  readonly problems: readonly Problem[];
  /** True if a file that may declare objects could not be read. */
  readonly incomplete: boolean;
}

/** Assumed namespace of objects without a namespace. The tool that applies the objects chooses the real namespace. */
export const ASSUMED_NAMESPACE = 'default';

interface WrittenSide {
  readonly commit: string;
  readonly documents: readonly SourceFile[];
  readonly problems: readonly Problem[];
  readonly incomplete: boolean;
}

/**
 * Reads both commits. `paths` are folders inside the repository. A missing folder declares no objects. A CRD that only
 * one commit contains is used for both commits, because the CRD decides whether objects of its kind need a namespace.
 */
export async function readSides(
  deps: SideDeps,
  { base, head }: { readonly base: Checkout; readonly head: Checkout },
  paths: readonly string[],
): Promise<{ readonly before: Side; readonly after: Side }> {
  const before = await readDocuments(deps, base, paths);
  const after = await readDocuments(deps, head, paths);
  return {
    before: loadSide(deps, before, definitionsIn(after, deps.cache)),
    after: loadSide(deps, after, definitionsIn(before, deps.cache)),
  };
}

async function readDocuments(
  { cache, kustomize }: SideDeps,
  checkout: Checkout,
  paths: readonly string[],
): Promise<WrittenSide> {
  const documents: SourceFile[] = [];
  const problems: Problem[] = [];
  // Links are not followed, so the manifests behind a link are unknown.
  const links = new Set(paths.flatMap((path) => linkAt(checkout, path) ?? []));
  problems.push(...[...links].map(skippedProblem));
  let incomplete = links.size > 0;
  for (const path of paths.filter((each) => hasPath(checkout, each))) {
    const source = {
      name: 'files',
      path,
      kustomize,
      namespace: ASSUMED_NAMESPACE,
      variables: async () => LITERAL_VARIABLES,
    };
    const read = await readWritten(source, checkout, cache);
    documents.push(...(await unsealFiles(read.documents, async () => ({ type: 'none' }), cache)));
    problems.push(...read.problems);
    incomplete ||= read.incomplete;
  }
  return { commit: checkout.commit, documents, problems, incomplete };
}

function definitionsIn({ documents }: WrittenSide, cache: LoadCache): readonly JsonObject[] {
  const manifests = documents.filter(({ path, built }) => built !== undefined || isManifest(path));
  return manifests.flatMap((file) => definitionsOf(parseFile(file, cache)));
}

function loadSide(
  { kinds, apiGroup, cache }: SideDeps,
  { commit, documents, problems, incomplete }: WrittenSide,
  definitions: readonly JsonObject[],
): Side {
  const given = { documents, kinds, apiGroup, cache, definitions };
  const loaded = load({ ...given, source: 'files', builtin: bundledSchema, foreign: 'unchecked' });
  return {
    commit,
    loaded,
    definitions: loaded.resources.flatMap(({ object }) => (object.kind === 'CustomResourceDefinition' ? [object] : [])),
    problems: [...problems, ...validate(given).problems],
    incomplete: incomplete || loaded.unidentified,
  };
}

/** Returns true if the folder exists. The empty path is the whole repository. */
export function hasPath({ files, skipped }: Checkout, path: string): boolean {
  return path === '' || [...files, ...skipped].some((each) => each.path.startsWith(`${path}/`));
}
