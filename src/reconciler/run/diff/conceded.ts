// Collects fields that other managers have set to values other than the declared ones, and reports each at its
// manifest. Also reads such fields from a conflict response of the server.

import type { ReadContents } from '#kubernetes/rules/large-values.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { type Conceded, concedeAnswered } from '#kubernetes/rules/ownership/concede.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import type { Problem, ResourceId } from '#std/problem.ts';
import { IGNORE_FIELDS, isOtherInstance } from '../labels.ts';
import { readMergeType } from '../observe/merge-types.ts';
import type { ApplyOptions, Cluster } from '../ports.ts';
import type { LoadedResource } from '../read/load.ts';
import type { Compared } from './compared.ts';
import { type FieldOfOther, type FieldRules, fieldStates } from './field-states.ts';
import { sendWhole } from './send-whole.ts';

/** A field that another manager has set to a value other than the declared one. */
export interface FoundField extends FieldOfOther {
  readonly resource: ResourceId;
  readonly owner?: ResourceId | undefined;
}

export function fieldsFound(compared: readonly Compared[]): readonly FoundField[] {
  return compared.flatMap(({ desired: { id, owner }, fields = [] }) =>
    fields.map((field) => ({ ...field, resource: id, owner })),
  );
}

/** Returns the fields that other managers set while the run wrote. */
export function fieldsLost(
  rules: FieldRules,
  outcomes: readonly { readonly resource: ResourceId; readonly conceded?: readonly Conceded[] }[],
  loaded: readonly LoadedResource[],
): readonly FoundField[] {
  const lost = outcomes.filter(({ conceded = [] }) => conceded.length > 0);
  if (lost.length === 0) return [];
  const declared = new Map(loaded.map((each) => [keyOf(each.id), each.object]));
  return lost.flatMap(({ resource, conceded = [] }) => {
    const object = declared.get(keyOf(resource));
    const stateOf = object === undefined ? () => 'kept' as const : fieldStates(rules, object, false);
    return conceded.map((field) => ({ ...field, resource, state: stateOf(field.path, field.manager) }));
  });
}

/**
 * Returns one warning for each field, at its place in the manifest. Fields that the manifest leaves to other managers
 * cause no warning.
 */
export function problemsOf(
  found: readonly FoundField[],
  loaded: readonly LoadedResource[],
  own: string,
): readonly Problem[] {
  const differing = found.filter(({ state }) => state !== 'left');
  if (differing.length === 0) return [];
  const sources = new Map(loaded.map((resource) => [keyOf(resource.id), resource]));
  return differing.map((field): Problem => {
    const { resource, owner, pointer } = field;
    const source = sources.get(keyOf(owner ?? resource));
    const place = source?.place(owner === undefined ? pointer : '/metadata/name');
    const code = field.state === 'kept' ? 'field-conflict' : 'field-set-back';
    return { code, severity: 'warning', message: fieldMessage(field, own), pointer, place, resource };
  });
}

function fieldMessage({ path, pointer, manager, state, owner }: FoundField, own: string): string {
  if (state === 'set-back' && pointer === '')
    return `${path} was set by field manager "${manager}", and is removed, because it blocks a field that Git declares`;
  if (state === 'set-back') {
    const rest = owner === undefined ? `; to leave it to others, name it in the annotation ${IGNORE_FIELDS}` : '';
    return `${path} was set to another value by field manager "${manager}", and is set back to the value in Git${rest}`;
  }
  if (isOtherInstance(manager, own))
    return `${path} stays as another instance has set it (field manager "${manager}"): declare it for one of the two`;
  return `${path} stays as field manager "${manager}" has set it, and is not applied: declare its value, or remove the field there, or set apply.conflicts to force`;
}

export interface Conceding {
  readonly stored: KubeObject;
  /** Object as it was applied. */
  readonly object: KubeObject;
  readonly conceded: readonly Conceded[];
}

/**
 * Applies the object. If the server reports conflicts, applies the object again without the fields in conflict.
 * `contents` reads the long values for which `object` has stand-ins. Throws Failure as `Cluster.apply` does.
 */
export async function applyConceding(
  cluster: Pick<Cluster, 'apply' | 'schema'>,
  object: KubeObject,
  options: ApplyOptions,
  contents: ReadContents | undefined,
): Promise<Conceding> {
  const send = (some: KubeObject): Promise<KubeObject> =>
    sendWhole(some, contents, (whole) => cluster.apply(whole, options));
  try {
    return { stored: await send(object), object, conceded: [] };
  } catch (error) {
    const conflicts = error instanceof Failure && !options.force ? conflictsOf(error) : [];
    const type = conflicts.length === 0 ? undefined : await readMergeType(cluster, object);
    if (type === undefined) throw error;
    const { object: rest, conceded } = concedeAnswered(object, type, conflicts);
    if (conceded.length < conflicts.length) throw error;
    return { stored: await send(rest), object: rest, conceded };
  }
}

/**
 * Reads the conflicts from a Failure. The server sends one cause for each field, and quotes the manager in its message
 * (Kubernetes API, "Server-Side Apply", "Conflicts").
 */
function conflictsOf({ code, data }: Failure): { path: string; manager: string }[] {
  const causes = code === 'cluster-conflict' && Array.isArray(data.causes) ? data.causes.filter(isObject) : [];
  const fields = causes.filter(({ reason }) => reason === 'FieldManagerConflict');
  return fields.map(({ field, message }) => ({ path: String(field), manager: quotedIn(String(message)) }));
}

function quotedIn(message: string): string {
  const [, quoted = message] = message.split('"');
  return quoted;
}
