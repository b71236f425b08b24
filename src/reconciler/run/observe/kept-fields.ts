// Computes the stored form of a declared object: the form after the apply, with the fields that other managers keep
// (decision 0240). Children are computed from the stored form, not from values that are not applied.

import { shortenObject, standInsOf } from '#kubernetes/rules/large-values.ts';
import { normalise } from '#kubernetes/rules/normalise.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { MergeType } from '#kubernetes/rules/openapi.ts';
import { compare } from '#kubernetes/rules/ownership/compare.ts';
import { type Conceded, concede } from '#kubernetes/rules/ownership/concede.ts';
import { serverSideApply } from '#kubernetes/rules/ownership/write/apply.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import type { Problem } from '#std/problem.ts';
import type { Resource } from '../../kinds/kind.ts';
import { ownObject } from '../desire/desire.ts';
import { type FieldRules, fieldStates } from '../diff/field-states.ts';
import { ignoredFields } from '../diff/ignored-fields.ts';
import type { InstanceName, OwnKinds, Permissions } from '../instance.ts';
import { applySetId, fieldManager, isOtherInstance } from '../labels.ts';
import type { Cluster } from '../ports.ts';
import { isLeftAlone } from '../prune/left-alone.ts';
import type { Gathered } from '../read/gather.ts';
import { load } from '../read/load.ts';
import { problemOf } from '../read/problem-of.ts';
import type { LoadCache } from '../read/source-file.ts';
import type { Sourced } from '../read/sourced.ts';
import { asWritten } from './by-hand.ts';
import { readMergeTypes } from './merge-types.ts';
import type { Snapshot } from './snapshot.ts';

interface StoredForm {
  readonly loaded: Sourced;
  readonly object: KubeObject;
  readonly conceded: readonly Conceded[];
}

/**
 * Adds the stored form to resources with kept fields. If the stored form is invalid, the resource is treated like a
 * resource with an invalid manifest.
 */
export async function addKeptFields(
  deps: { readonly cluster: Cluster; readonly cache: LoadCache },
  options: InstanceName & OwnKinds & Pick<Permissions, 'conflicts'>,
  gathered: Gathered,
  living: Snapshot['find'],
): Promise<Gathered> {
  const kept = await keptOf(deps, options, gathered, living);
  if (kept.length === 0) return gathered;
  const { kinds, apiGroup } = options;
  const documents = kept.filter(({ loaded: { kind } }) => kind !== undefined).map(({ object }) => asWritten(object));
  const read = load({ source: '', documents, kinds, apiGroup, builtin: bundledSchema, cache: deps.cache });
  const defaulted = new Map(read.resources.map((each) => [keyOf(each.id), each.defaulted]));
  const replaced = new Map(kept.map((each) => [each.loaded, asRead(each, defaulted)]));
  const unfit = kept.filter(({ loaded }) => loaded.kind !== undefined && replaced.get(loaded)?.defaulted === undefined);
  return {
    ...gathered,
    loaded: gathered.loaded.map((each) => replaced.get(each) ?? each),
    invalid: [...gathered.invalid, ...unfit.map(({ loaded }) => loaded.id)],
    problems: [...gathered.problems, ...unfit.map((each) => unfitProblem(each, read.problems))],
  };
}

function asRead({ loaded, object }: StoredForm, read: ReadonlyMap<string, Resource | undefined>): Sourced {
  const { defaulted: _declared, ...rest } = loaded;
  if (loaded.kind === undefined) return { ...rest, kept: object };
  const defaulted = read.get(keyOf(loaded.id));
  return defaulted === undefined ? rest : { ...rest, defaulted };
}

function unfitProblem({ loaded, conceded }: StoredForm, problems: readonly Problem[]): Problem {
  const [first] = conceded;
  const fields = conceded.map(({ path, manager }) => `${path} by "${manager}"`).join(', ');
  const found = problems.filter(
    ({ resource, severity }) => resource && keyOf(resource) === keyOf(loaded.id) && severity === 'error',
  );
  const why = found.map(({ message }) => message).join(' ');
  const message = `it is not valid with the fields that others have set (${fields}): ${why}`;
  return problemOf(loaded, { code: 'kept-invalid', severity: 'error', pointer: first?.pointer ?? '', message });
}

async function keptOf(
  { cluster }: { readonly cluster: Cluster },
  options: InstanceName & Pick<Permissions, 'conflicts'>,
  { loaded, invalid }: Gathered,
  living: Snapshot['find'],
): Promise<readonly StoredForm[]> {
  const manager = fieldManager(options.instance);
  const rules = { manager, force: options.conflicts === 'force' };
  const broken = new Set(invalid.map(keyOf));
  const shared = loaded.flatMap((each): { loaded: Sourced; live: KubeObject }[] => {
    const live = isRead(each) && !broken.has(keyOf(each.id)) ? living(each.id) : undefined;
    if (live === undefined || isLeftAlone(live) || isLeftAlone(each.object)) return [];
    return mayKeep(rules, each, live) ? [{ loaded: each, live }] : [];
  });
  const ids = shared.map((each) => each.loaded.id);
  const typeOf = await readMergeTypes(cluster, ids);
  const applySet = applySetId(options.instance, options.homeNamespace);
  return shared.flatMap(({ loaded: each, live }): StoredForm[] => {
    const type = typeOf(each.id);
    if (type === undefined) return [];
    const found = keptFields(rules, ownObject(applySet, each), live, type);
    return found === undefined ? [] : [{ loaded: each, ...found }];
  });
}

/** Returns true if other stages read the content of the object. Other objects need no stored form. */
function isRead({ kind, defaulted, id }: Sourced): boolean {
  return kind === undefined ? id.apiVersion === 'v1' && DATA_KINDS.has(id.kind) : defaulted !== undefined;
}

const DATA_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);

/** Returns true if another manager may keep a field. Each manager of a field has an entry in `managedFields`. */
function mayKeep({ manager: own, force }: FieldRules, { object }: Sourced, { metadata }: KubeObject): boolean {
  const all = !force || ignoredFields(object).length > 0;
  const entries = metadata.managedFields ?? [];
  return entries.some(({ manager, operation, subresource = '' }) =>
    all ? subresource !== 'status' && (manager !== own || operation !== 'Apply') : isOtherInstance(manager, own),
  );
}

function keptFields(
  rules: FieldRules,
  declared: KubeObject,
  found: KubeObject,
  type: MergeType,
): Omit<StoredForm, 'loaded'> | undefined {
  const { manager, force } = rules;
  const [desired, live] = inOneForm(normalise(declared, type), found);
  if (compare(desired, live, type, manager).result === 'unchanged') return undefined;
  const stateOf = fieldStates(rules, desired, false);
  const keeps = (path: string, other: string): boolean => stateOf(path, other) !== 'set-back';
  const { object, conceded } = concede(desired, live, type, manager, keeps);
  if (conceded.length === 0) return undefined;
  const { apiVersion } = object;
  const stored = serverSideApply({ live, applied: object, type, manager, apiVersion, force, time: '' });
  return 'object' in stored ? { object: normalise(stored.object, type), conceded } : undefined;
}

/** Shortens both objects if one of them lacks its long values. */
function inOneForm(...pair: [KubeObject, KubeObject]): [KubeObject, KubeObject] {
  if (pair.every((object) => standInsOf(object).length === 0)) return pair;
  return [shortenObject(pair[0]), shortenObject(pair[1])];
}
