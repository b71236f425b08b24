// Loads the manifests of one source at one commit. Knows nothing about other sources, or which commit it should be.

import type { Kind } from '../../kinds/kind.ts';
import { keyOf } from '../../kube/object.ts';
import { bundledSchema } from '../../kube/schemas/bundled.ts';
import { Failure } from '../../std/failure.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import type { SopsKeys } from '../../std/sops/open.ts';
import type { Checkout, Cluster } from '../ports.ts';
import { DEFINITION, listDefinitions, listServedKinds } from './foreign-kinds.ts';
import { type Allow, limitsOf } from './limits.ts';
import { type Loaded, load } from './load.ts';
import { gatherManifests } from './manifests.ts';
import type { LoadCache } from './source-file.ts';
import { noKeys, unsealFiles } from './unseal.ts';

export interface LoadingInput {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly cache: LoadCache;
  /** Asked about kinds that the source uses and does not define. */
  readonly cluster: Pick<Cluster, 'resources' | 'serves' | 'get'>;
}

/** Of a source, what counts for its manifests. */
export interface LoadedSource {
  readonly name: string;
  readonly path: string;
  readonly ignore?: readonly string[];
  readonly allow?: Allow;
  readonly keys?: () => Promise<SopsKeys>;
}

/** Keys of what a commit declares that a rollback took out of use; `unknown`: it could not be read. */
export type OutOfUse = ReadonlySet<string> | 'unknown';

/** What a commit of a source says, held against the kinds that the source and the cluster define. */
export async function loadCheckout(input: LoadingInput, source: LoadedSource, checkout: Checkout): Promise<Loaded> {
  const { kinds, apiGroup, cache } = input;
  const { documents: written, problems, incomplete } = await gatherManifests(checkout, source, cache);
  const documents = await unsealFiles(written, source.keys ?? noKeys(source.name), cache);
  const counts = definesWithin(source);
  const given = { source: source.name, documents, kinds, apiGroup, builtin: bundledSchema, cache, counts };
  const alone = load(given);
  const [definitions, served] = await Promise.all([
    listDefinitions(input.cluster, alone.foreign),
    listServedKinds(input.cluster, alone.unknown),
  ]);
  const loaded = definitions.length + served.length === 0 ? alone : load({ ...given, definitions, served });
  return {
    ...loaded,
    problems: [...problems, ...loaded.problems],
    unidentified: loaded.unidentified || incomplete,
  };
}

/** An object may have moved into a commit that is out of use: it is deleted nowhere then. */
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

/** What a source may not declare judges nothing either: it will not be in the cluster. */
function definesWithin({ allow }: LoadedSource): (definition: JsonObject) => boolean {
  if (allow === undefined) return () => true;
  const limits = limitsOf(allow);
  return ({ metadata }) => {
    const name = isObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
    return limits.refusal({ ...DEFINITION, name }) === undefined;
  };
}
