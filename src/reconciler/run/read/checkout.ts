// Loads the manifests of one source at one commit.

import { keyOf } from '#kubernetes/rules/object.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { SopsKeys } from '#std/sops/open.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { Checkout, Cluster, KustomizeBuilder } from '../ports.ts';
import { finishInTurns } from '../turns.ts';
import { DEFINITION, listDefinitions, listServedKinds } from './foreign-kinds.ts';
import { buildPlanned, type KustomizationPlan, planKustomizations } from './kustomize/inputs.ts';
import { treeOfCheckout } from './kustomize/tree.ts';
import { isKustomizationFile } from './kustomize/walk.ts';
import { type Allow, limitsOf } from './limits.ts';
import { type Loaded, type LoadInput, loading } from './load.ts';
import { gatherManifests, type Manifests, pathsOf, readBlobText } from './manifests.ts';
import type { SoundFileStore, SoundFiles } from './sound-files.ts';
import type { LoadCache, SourceFile } from './source-file.ts';
import { withVariables } from './substitute/objects.ts';
import type { Variables } from './substitute/variables.ts';
import { noKeys, unsealFiles } from './unseal.ts';

export interface LoadingInput {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly cache: LoadCache;
  /** If absent, no results of an earlier process are used. */
  readonly sound?: SoundFileStore;
  readonly cluster: Pick<Cluster, 'resources' | 'serves' | 'get'>;
}

/** Settings of a source that affect its manifests. */
export interface LoadedSource {
  readonly name: string;
  readonly path: string;
  readonly ignore?: readonly string[];
  readonly namespace?: string | undefined;
  readonly allow?: Allow;
  readonly keys?: () => Promise<SopsKeys>;
  readonly variables?: () => Promise<Variables>;
  /** If absent, kustomizations are not built, and their files are read as manifests. */
  readonly kustomize?: KustomizeBuilder;
}

/** Keys of the objects in a commit that a rollback excludes; `unknown` if the commit could not be read. */
export type OutOfUse = ReadonlySet<string> | 'unknown';

/** Loads a commit of a source. Objects are checked with the kinds that the source and the cluster define. */
export async function loadCheckout(input: LoadingInput, source: LoadedSource, checkout: Checkout): Promise<Loaded> {
  const { kinds, apiGroup, cache } = input;
  const sound = await input.sound?.open();
  const { documents: written, problems, incomplete } = await readWritten(source, checkout, cache, sound);
  const documents = await unsealFiles(written, source.keys ?? noKeys(source.name), cache);
  const given = {
    ...loadInput({ kinds, apiGroup, cache }, source, documents),
    readText: (blob: string) => readBlobText(checkout, blob),
    sound,
  };
  const alone = await finishInTurns(loading(given));
  const { definitions, served } = await askAbout(input.cluster, alone);
  const isWhole = definitions.length + (served?.length ?? 0) === 0;
  const loaded = isWhole ? alone : await finishInTurns(loading({ ...given, definitions, served }));
  return {
    ...loaded,
    problems: [...problems, ...loaded.problems],
    unidentified: loaded.unidentified || incomplete,
  };
}

/** Reads the manifests of a source, builds its kustomizations, and adds the variables to files with expressions. */
export async function readWritten(
  { variables, kustomize, ...source }: LoadedSource,
  checkout: Checkout,
  cache: LoadCache,
  sound?: SoundFiles,
): Promise<Manifests> {
  const plan = kustomize === undefined ? undefined : await planAll(source, checkout, cache);
  const kustomized = kustomize && plan && (await buildPlanned(plan, kustomize, cache));
  const expressions = variables === undefined ? {} : { expressions: true as const };
  const paths = { ...source, ...expressions, ...(plan && { except: plan.covers }) };
  const { documents: written, problems, incomplete } = await gatherManifests(checkout, paths, cache, sound);
  const { namespace } = source;
  const built = (kustomized?.files ?? []).map((file) => ({ ...file, namespace }));
  const documents = [...written, ...built];
  const faults = kustomized?.problems ?? [];
  return {
    documents: variables === undefined ? documents : withVariables(documents, await variables()),
    problems: [...problems, ...faults],
    // If a build failed, the source may declare objects that are unknown now.
    incomplete: incomplete || faults.length > 0,
  };
}

/**
 * Finds the kustomizations of a source. Returns undefined if the source has no kustomization. This check is fast, even
 * for very many files.
 */
async function planAll(
  source: Pick<LoadedSource, 'path' | 'ignore'>,
  checkout: Checkout,
  cache: LoadCache,
): Promise<KustomizationPlan | undefined> {
  const { folder, prefix, isRead } = pathsOf(source);
  if (!checkout.files.some(({ path }) => isKustomizationFile(path) && path.startsWith(prefix))) return undefined;
  return planKustomizations({ tree: treeOfCheckout(checkout), folder, isRead, cache });
}

/** Returns the input of `load` for a source, without facts from the cluster. */
export function loadInput(
  { kinds, apiGroup, cache }: Pick<LoadingInput, 'kinds' | 'apiGroup' | 'cache'>,
  source: Pick<LoadedSource, 'name' | 'allow'>,
  documents: readonly SourceFile[],
): LoadInput {
  return {
    source: source.name,
    documents,
    kinds,
    apiGroup,
    builtin: bundledSchema,
    cache,
    counts: definesWithin(source),
  };
}

/** Reads from the cluster the definitions of foreign kinds, and the kinds in discovery. */
export async function askAbout(
  cluster: LoadingInput['cluster'],
  { foreign, unknown }: Pick<Loaded, 'foreign' | 'unknown'>,
): Promise<Pick<LoadInput, 'served'> & { readonly definitions: readonly JsonObject[] }> {
  const [definitions, served] = await Promise.all([
    listDefinitions(cluster, foreign),
    listServedKinds(cluster, unknown),
  ]);
  return { definitions, served };
}

/**
 * Returns the objects in a commit that a rollback excludes. If an object moved to this source in that commit, its
 * former source must not delete it.
 */
export async function findOutOfUse(
  input: LoadingInput,
  source: LoadedSource,
  tip: Checkout | undefined,
): Promise<OutOfUse> {
  if (tip === undefined) return 'unknown';
  try {
    const { resources, unidentified } = await loadCheckout(input, source, tip);
    return unidentified ? 'unknown' : new Set(resources.map(({ id }) => keyOf(id)));
  } catch (failure) {
    if (failure instanceof Failure) return 'unknown';
    throw failure;
  }
}

/**
 * Returns a function that returns false for definitions that the source may not declare. Such a definition is never
 * applied, so objects are not checked with it.
 */
function definesWithin({ allow }: Pick<LoadedSource, 'allow'>): (definition: JsonObject) => boolean {
  if (allow === undefined) return () => true;
  const limits = limitsOf(allow);
  return ({ metadata }) => {
    const name = isObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
    return limits.refusal({ ...DEFINITION, name }) === undefined;
  };
}
