// Fields that other managers keep (`apply.conflicts: report`): told at the manifest that declares another value, and
// found once more where the server answers with a conflict that nobody saw coming. Knows nothing about what they are for.

import { type KubeObject, keyOf } from '../../kube/object.ts';
import { type Conceded, concedeAnswered } from '../../kube/ownership/concede.ts';
import { Failure } from '../../std/failure.ts';
import { isObject } from '../../std/json.ts';
import type { Problem, ResourceId } from '../../std/problem.ts';
import { mergeTypeOf } from '../observe/merge-types.ts';
import type { ApplyOptions, Cluster } from '../ports.ts';
import type { LoadedResource } from '../read/load.ts';
import type { Compared } from './compared.ts';

interface Concession {
  readonly id: ResourceId;
  readonly conceded: readonly Conceded[];
}

export function concededProblems(compared: readonly Compared[], loaded: readonly LoadedResource[]): readonly Problem[] {
  return problemsOf(
    compared.flatMap(({ desired: { id }, conceded }) => (conceded === undefined ? [] : [{ id, conceded }])),
    loaded,
  );
}

/** One problem for each field, at its place. */
export function problemsOf(concessions: readonly Concession[], loaded: readonly LoadedResource[]): readonly Problem[] {
  if (concessions.length === 0) return [];
  const sources = new Map(loaded.map((resource) => [keyOf(resource.id), resource]));
  return concessions.flatMap(({ id, conceded }) =>
    conceded.map(({ path, pointer, manager }): Problem => {
      const place = sources.get(keyOf(id))?.place(pointer);
      return {
        code: 'field-conflict',
        severity: 'warning',
        message: `${path} stays as field manager "${manager}" has set it, and is not applied: declare its value, or remove the field there, or set apply.conflicts to force`,
        pointer,
        place,
        resource: id,
      };
    }),
  );
}

export interface Conceding {
  readonly stored: KubeObject;
  /** As it was applied. */
  readonly object: KubeObject;
  readonly conceded: readonly Conceded[];
}

/** Applies; what the server says that others have is left to them. Throws Failure as `Cluster.apply` does. */
export async function applyConceding(
  cluster: Pick<Cluster, 'apply' | 'schema'>,
  object: KubeObject,
  options: ApplyOptions,
): Promise<Conceding> {
  try {
    return { stored: await cluster.apply(object, options), object, conceded: [] };
  } catch (error) {
    const conflicts = error instanceof Failure && !options.force ? conflictsOf(error) : [];
    const type = conflicts.length === 0 ? undefined : await mergeTypeOf(cluster, object);
    if (type === undefined) throw error;
    const { object: rest, conceded } = concedeAnswered(object, type, conflicts);
    if (conceded.length < conflicts.length) throw error;
    return { stored: await cluster.apply(rest, options), object: rest, conceded };
  }
}

/** Kubernetes API, "Server-Side Apply", "Conflicts": one cause for each field, with its manager in quotes. */
function conflictsOf({ code, data }: Failure): { path: string; manager: string }[] {
  const causes = code === 'cluster-conflict' && Array.isArray(data.causes) ? data.causes.filter(isObject) : [];
  const fields = causes.filter(({ reason }) => reason === 'FieldManagerConflict');
  return fields.map(({ field, message }) => ({ path: String(field), manager: quotedIn(String(message)) }));
}

function quotedIn(message: string): string {
  const [, quoted = message] = message.split('"');
  return quoted;
}
