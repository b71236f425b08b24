// Plans the difference between two commits. The plan contains the changes that a tool makes if it applies the head to a
// cluster in the state of the base.

import { groupOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { isObject, type Json } from '#std/json.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import { countText } from '#std/words/count-text.ts';
import { lockImpacts } from '../impact/definitions.ts';
import { impactOf } from '../impact/impact.ts';
import { batchByRank, type Change, type Plan } from '../plan/plan.ts';
import { rankOf } from '../plan/rank.ts';
import type { Checkout } from '../ports.ts';
import { linkAt } from '../read/manifests.ts';
import type { RunResult } from '../result.ts';
import { type ComparedObject, compareSides, type Sides } from './compare.ts';
import { ASSUMED_NAMESPACE, hasPath, readSides, type Side, type SideDeps } from './side.ts';

export interface RenderInput extends SideDeps {
  readonly paths: readonly string[];
  readonly base: { readonly name: string; readonly checkout: Checkout };
  readonly head: { readonly name: string; readonly checkout: Checkout };
  /** Current time, in RFC 3339. */
  readonly now: string;
}

export async function planByRendering(input: RenderInput): Promise<RunResult> {
  const { paths, base, head, kinds, apiGroup, now } = input;
  const { before, after } = await readSides(input, { base: base.checkout, head: head.checkout }, paths);
  const sides = { kinds, apiGroup, before, after };
  const compared = compareSides(sides);
  const plan = planOf(sides, compared);
  const fresh = after.problems.filter(notEarlier(before.problems, compared));
  return {
    ...NOTHING_DONE,
    commits: { [head.name]: after.commit },
    startedAt: now,
    finishedAt: now,
    plan,
    impact: impactOf({
      ...{ kinds, apiGroup, changes: changesIn(plan) },
      ...statesOf(compared, plan),
      definitions: lockImpacts(soundLocks(before), soundLocks(after)),
    }),
    problems: fresh,
    rendered: {
      paths,
      base: { name: base.name, commit: before.commit },
      head: { name: head.name, commit: after.commit },
      earlierProblems: after.problems.length - fresh.length,
      unknown: unknownOf(input, sides, compared),
    },
  };
}

/** Returns the valid tool locks. Invalid locks are left out, because their servers are kept unchanged. */
function soundLocks({ loaded: { locks, invalid } }: Side) {
  const broken = new Set(invalid.map(keyOf));
  return locks.filter(({ id }) => !broken.has(keyOf(id)));
}

const NOTHING_DONE = {
  id: '',
  quarantined: [],
  outcomes: [],
  fields: [],
  failures: [],
  warnings: [],
  catalogue: [],
  waits: [],
  readiness: { ready: [], progressing: [], failed: [] },
  timedOut: false,
  requests: 0,
} as const;

function planOf({ kinds, apiGroup, after }: Sides, compared: readonly ComparedObject[]): Plan {
  const invalid = new Set(after.loaded.invalid.map(keyOf));
  const rank = rankOf(kinds, apiGroup);
  const different = compared.filter(({ isSame }) => !isSame);
  const gone = different.filter((each) => each.after === undefined);
  const written = different.filter((each) => each.after !== undefined && !invalid.has(each.key));
  const unfit = different.filter(
    (each) => each.before !== undefined && each.after !== undefined && invalid.has(each.key),
  );
  const deletions = after.incomplete ? [] : gone.map(deletionOf);
  return {
    batches: [
      ...batchByRank(rank, written.map(writeOf), 'apply'),
      ...batchByRank(rank, deletions, 'delete').toReversed(),
    ],
    held: [
      ...unfit.map(({ id }) => ({ resource: id, reason: 'its manifest is invalid' })),
      ...(after.incomplete ? gone.map(({ id }) => ({ resource: id, reason: UNREAD })) : []),
    ],
    unchanged: compared.filter(({ isSame }) => isSame).map(({ id }) => id),
    waiting: [],
    approved: [],
    within: [],
  };
}

const UNREAD = 'a manifest could not be read, and may declare it';

function writeOf({ id, key, before, after, diff }: ComparedObject): Change {
  const object: KubeObject = after?.object ?? { apiVersion: id.apiVersion, kind: id.kind, metadata: { name: id.name } };
  return { action: before === undefined ? 'create' : 'update', resource: id, key, object, diff };
}

function deletionOf({ id, key }: ComparedObject): Change {
  return { action: 'delete', resource: id, key, source: '', uid: '', referrers: [], diff: [] };
}

function changesIn({ batches }: Plan): readonly Change[] {
  return batches.flatMap(({ changes }) => changes);
}

/**
 * Returns the state before and after the plan. Objects that are kept unchanged are equal in both states. A resource
 * that could not be read in one of the commits is left out.
 */
function statesOf(compared: readonly ComparedObject[], plan: Plan) {
  const changed = new Set(changesIn(plan).map(({ key }) => key));
  const readable = compared.filter((each) => !isUnreadable(each));
  const objects = (side: 'before' | 'after', each: ComparedObject): readonly KubeObject[] => {
    const found = each[side];
    return found === undefined ? [] : [found.defaulted ?? found.object];
  };
  return {
    before: readable.flatMap((each) => objects('before', each)),
    after: readable.flatMap((each) => objects(changed.has(each.key) ? 'after' : 'before', each)),
  };
}

/**
 * Returns true for a custom resource that cannot be read in one of the commits: it is invalid, or fields that its
 * kind must read contain expressions.
 */
function isUnreadable({ before, after }: ComparedObject): boolean {
  return [before, after].some((each) => each?.kind !== undefined && each.defaulted === undefined);
}

/**
 * Returns a filter that drops problems of unchanged objects that the base has too. A problem without an object is kept,
 * because it is about a file that was not read.
 */
function notEarlier(earlier: readonly Problem[], compared: readonly ComparedObject[]): (problem: Problem) => boolean {
  const same = new Set(compared.flatMap(({ isSame, key }) => (isSame ? [key] : [])));
  const known = new Set(earlier.map(sameness));
  return (problem) =>
    problem.resource === undefined || !same.has(keyOf(problem.resource)) || !known.has(sameness(problem));
}

function sameness({ code, severity, resource, pointer }: Problem): string {
  return JSON.stringify([code, severity, resource && keyOf(resource), pointer]);
}

function unknownOf(
  { paths, base, head }: RenderInput,
  { before, after }: Sides,
  compared: readonly ComparedObject[],
): readonly string[] {
  const resources = after.loaded.resources;
  const variables = resources.filter(({ unknown = [] }) => unknown.length > 0).length;
  const isAssumed = ({ id }: ComparedObject): boolean => id.namespace === ASSUMED_NAMESPACE;
  return [
    'other objects in the cluster, and objects that controllers and operators create: only manifests were compared',
    ...(variables === 0
      ? []
      : [
          `the values of variables: ${countText(variables, 'object has', 'objects have')} expressions such as \${NAME}, which are compared as texts`,
        ]),
    ...(compared.some(isAssumed)
      ? [`the namespace of objects that name none: they are shown in ${ASSUMED_NAMESPACE}`]
      : []),
    ...unreadResources(compared),
    ...unreadBefore(before),
    ...paths.flatMap((path) => missingFolder(path, base.checkout, head.checkout)),
    ...elsewhere(
      resources.map(({ id, object }) => ({ id, object })),
      paths,
      head.checkout,
    ),
  ];
}

function unreadResources(compared: readonly ComparedObject[]): readonly string[] {
  const names = compared.filter((each) => !each.isSame && isUnreadable(each)).map(({ id }) => formatId(id));
  if (names.length === 0) return [];
  return [`the effect on clients of ${names.join(', ')}: a value in the manifest is a variable or invalid`];
}

function unreadBefore({ incomplete, problems }: Side): readonly string[] {
  if (!incomplete) return [];
  const { place } = problems.find(({ resource }) => resource === undefined) ?? {};
  const where = place === undefined ? '' : ` (${place.file}:${place.line})`;
  return [
    `the objects of the base in manifests that could not be read${where}: they are shown as created if the head declares them`,
  ];
}

/**
 * Describes a folder that only the base has. A tool that does not find the folder may fail before it deletes objects.
 */
function missingFolder(path: string, base: Checkout, head: Checkout): readonly string[] {
  if (!hasPath(base, path) || hasPath(head, path) || linkAt(head, path) !== undefined) return [];
  return [
    `whether the objects of ${path} are deleted: the head does not have this folder, and Flux and Argo CD may refuse a missing path and delete nothing`,
  ];
}

/** Describes folders of this repository that were not compared, although objects of Flux or Argo CD apply them. */
function elsewhere(
  objects: readonly { readonly id: ResourceId; readonly object: KubeObject }[],
  paths: readonly string[],
  checkout: Checkout,
): readonly string[] {
  return objects.flatMap(({ id, object }) => {
    const folders = foldersOf(object).filter((folder) => hasPath(checkout, folder) && !isCompared(folder, paths));
    return folders.map(
      (folder) =>
        `the objects that ${formatId(id)} applies from ${folder}, which was not compared: add --path ${folder}`,
    );
  });
}

function isCompared(folder: string, paths: readonly string[]): boolean {
  return paths.some((path) => path === '' || path === folder || folder.startsWith(`${path}/`));
}

function foldersOf({ apiVersion, kind, spec }: KubeObject): readonly string[] {
  if (!isObject(spec)) return [];
  const { path, source, sources } = spec;
  const named: readonly (Json | undefined)[] =
    groupOf(apiVersion) === 'kustomize.toolkit.fluxcd.io' && kind === 'Kustomization'
      ? [path]
      : groupOf(apiVersion) === 'argoproj.io' && kind === 'Application'
        ? [source, ...(Array.isArray(sources) ? sources : [])].map((each) => (isObject(each) ? each.path : undefined))
        : [];
  return named.flatMap((each) => (typeof each === 'string' ? [plainPath(each)] : [])).filter((each) => each !== '');
}

function plainPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
