// Computes the desired fleet: syncs registry sources, resolves references, creates children, and leaves out children
// that would replace objects of other owners.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { PolicyEvaluator } from '#kubernetes/rules/policy/evaluator.ts';
import type { Problem } from '#std/problem.ts';
import { provenanceIn, registriesIn } from '../catalogue/enforcement.ts';
import { livingRegistries } from '../catalogue/living-registries.ts';
import {
  inOneRun,
  type RegistryDeps,
  type RegistryResults,
  type SyncInput,
  syncRegistries,
} from '../catalogue/registries.ts';
import { checkDigests } from '../images/locked-digests.ts';
import { modeFor } from '../images/policy.ts';
import type { ImageVerifier } from '../images/ports.ts';
import { verifyChildren } from '../images/verify-children.ts';
import type { InstanceName, OwnKinds, Permissions, Rendering, SyncMode } from '../instance.ts';
import { applySetId, fieldManager, labelValue } from '../labels.ts';
import { appliedBy } from '../observe/applied-by.ts';
import { groupKindFor } from '../observe/needed.ts';
import type { Observed } from '../observe/observe.ts';
import { type GroupKind, groupKindOf, type Snapshot } from '../observe/snapshot.ts';
import { openViews } from '../observe/view.ts';
import { NO_WAITS, type Waits } from '../plan/waits.ts';
import { type ChildrenEnforced, enforceOnChildren } from '../policy/enforce.ts';
import type { Clock } from '../ports.ts';
import { type Resolved, type ResolveInput, resolve } from '../resolve/resolve.ts';
import { checkLocks } from '../resolve/tool-locks.ts';
import { NO_REUSE, type Reuse } from '../reuse.ts';
import { type Desires, desire } from './desire.ts';
import { type DigestKey, prepareWithDigests } from './digest-key.ts';
import { type OwnDesires, withoutForeign } from './foreign.ts';
import { keepValues } from './generated.ts';
import { type IsUnread, refuseUnread } from './unread.ts';

export interface DesireDeps {
  readonly clock: Clock;
  /** If absent, the run syncs no registry sources. */
  readonly registries?: RegistryDeps;
  readonly digestKey: DigestKey;
  /** If absent, images are not verified. */
  readonly images?: ImageVerifier | undefined;
  readonly reuse?: Reuse | undefined;
}

export interface DesireOptions extends InstanceName, OwnKinds, Rendering, Pick<Permissions, 'children'> {
  /**
   * `living`: the run syncs the registries in the cluster, because it applies no registry from Git. Default:
   * `declared`.
   */
  readonly registriesAs?: 'declared' | 'living';
}

export interface DesiredFleet {
  readonly registries: RegistryResults;
  readonly resolved: Resolved;
  /** ToolLocks that apply to a declared server. */
  readonly locks: readonly KubeObject[];
  /** All desired objects. They include children that `withoutForeign` leaves out of `desires`. */
  readonly allDesires: Desires;
  readonly desires: OwnDesires;
  /** True if the desired objects contain placeholders, because the key for digests of Secrets was not found. */
  readonly unsealed: boolean;
  /** Our own kinds and the kinds of the desired objects: their status shows whether the resources are ready. */
  readonly watched: readonly GroupKind[];
  readonly problems: readonly Problem[];
}

export interface DesiredFrom extends Pick<Observed, 'gathered' | 'snapshot' | 'leftAlone' | 'ownKinds'> {
  /** Evaluates policies on children; absent if the instance has no policies. */
  readonly evaluator?: PolicyEvaluator | undefined;
  /** Results of earlier syncs of registry sources in this run. */
  readonly synced?: RegistryResults | undefined;
  /**
   * Sources of manifests that wait for other sources. Registries in these manifests are not synced. Absent if no source
   * waits.
   */
  readonly waits?: Waits;
}

export async function desireFleet(
  deps: DesireDeps,
  options: DesireOptions,
  mode: SyncMode,
  observed: DesiredFrom,
): Promise<DesiredFleet> {
  const { kinds, apiGroup, instance, homeNamespace } = options;
  const { gathered, snapshot, leftAlone } = observed;
  const locks = checkLocks(gathered);
  const views = openViews({ apiGroup, layers: [snapshot.objects(), declared(observed)], locks: locks.objects });
  const registries = await registriesOf(deps, options, mode, observed, views);
  const { find: living } = snapshot;
  const knowledge = knowledgeOf(snapshot, apiGroup);
  const asDeclared = resolve({
    ...{ loaded: gathered.loaded, invalid: gathered.invalid },
    kinds,
    views,
    knowledge,
    images: registries.images,
    leftAlone,
    living,
  });
  const computed = await computeDesires(deps, options, mode, { ...observed, resolved: asDeclared, views, registries });
  const { resolved, allDesires, unsealed } = computed;
  const desiredKinds = allDesires.objects.map(({ id }) => groupKindOf(id));
  await snapshot.ensure(desiredKinds);
  await snapshot.completeWhole(allDesires.objects.flatMap(({ id, owner }) => (owner === undefined ? [] : [id])));
  await snapshot.complete(allDesires.objects.map(({ id }) => id));
  const digests = checkDigests({ locks: gathered.locks, counting: locks.objects, objects: allDesires.objects });
  const own = withoutForeign({
    desires: allDesires,
    standings: resolved.standings,
    living,
    applySet: applySetId(instance, homeNamespace),
    applied: appliedBy(instance),
  });
  return {
    registries,
    resolved,
    locks: locks.objects,
    allDesires,
    desires: keepValues(own, living, deps.reuse ?? NO_REUSE),
    unsealed,
    watched: [...observed.ownKinds, ...desiredKinds],
    problems: [locks, registries, resolved, computed, own, digests].flatMap(({ problems }) => problems),
  };
}

async function registriesOf(
  deps: DesireDeps,
  options: DesireOptions,
  mode: SyncMode,
  { gathered, snapshot, leftAlone, synced, waits = NO_WAITS }: DesiredFrom,
  views: ResolveInput['views'],
): Promise<RegistryResults> {
  const known = { loaded: gathered.loaded, views };
  const declared = options.registriesAs === 'living' ? livingRegistries(options, snapshot) : known;
  const waiting = gathered.loaded.filter(({ source }) => waits.has(labelValue(source))).map(({ id }) => keyOf(id));
  const unfit = new Set([...leftAlone.keys(), ...gathered.invalid.map(keyOf), ...waiting]);
  const { apiGroup } = options;
  const knowledge = knowledgeOf(snapshot, apiGroup);
  const knows: SyncInput['knows'] = (...object) => knowledge(...object) === 'listed';
  const { verify } = options;
  const verifies = (namespace: string): boolean => verify !== undefined && modeFor(verify, namespace) !== 'off';
  const now = await syncRegistries(deps, {
    mode,
    apiGroup,
    ...declared,
    unfit,
    living: snapshot.find,
    knows,
    verifies,
  });
  return synced === undefined ? now : inOneRun(synced, now);
}

interface ChildrenFrom extends DesiredFrom, Pick<ResolveInput, 'views'> {
  readonly registries: Pick<RegistryResults, 'provenance'>;
  readonly resolved: Resolved;
}

/** Returns all desired objects. Leaves out children whose images are not verified or that a policy denies. */
async function computeDesires(
  deps: DesireDeps,
  options: DesireOptions,
  mode: SyncMode,
  { evaluator, resolved, views, snapshot, registries }: ChildrenFrom,
): Promise<ChildrenEnforced & { readonly unsealed: boolean }> {
  const { settings, children, instance, homeNamespace } = options;
  const applySet = applySetId(instance, homeNamespace);
  const { standings } = resolved;
  const { reuse = NO_REUSE } = deps;
  const configuration = JSON.stringify(settings);
  const knowledge = knowledgeOf(snapshot, options.apiGroup);
  // `unlisted` has only kinds with a failed LIST. The check excludes kinds that were never listed because no resource
  // refers to them.
  const isUnread: IsUnread = (kind, namespace, name = '') =>
    snapshot.unlisted().has(kind) && knowledge(kind, namespace, name) === 'failed';
  const { made, unsealed } = await prepareWithDigests(deps.digestKey, mode, (digest, digestKey) =>
    desire({
      standings,
      views,
      settings: { ...settings, digest },
      applySet,
      manager: fieldManager(instance),
      living: snapshot.find,
      livingByKey: snapshot.findByKey,
      children,
      isUnread,
      configuration,
      digestKey,
      reuse,
    }),
  );
  const read = refuseUnread(resolved, made.unread);
  const verified = await verifyChildren({
    policy: options.verify,
    verifier: deps.images,
    own: Object.values(settings.images),
    entries: (namespace) => provenanceIn(registriesIn(views(namespace), options.kinds), registries.provenance),
    resolved: read.resolved,
    desires: made,
    living: snapshot.find,
    reuse,
  });
  const enforced = enforceOnChildren(evaluator, verified.resolved, verified.desires);
  return { ...enforced, problems: [...read.problems, ...verified.problems, ...enforced.problems], unsealed };
}

/**
 * Returns a function that returns `listed` if the snapshot shows whether the object exists, else `failed`. If the
 * server does not serve the kind, the object does not exist.
 */
function knowledgeOf(snapshot: Snapshot, apiGroup: string): ResolveInput['knowledge'] {
  return (kind, namespace, name) => {
    const served = snapshot.served(groupKindFor(kind, apiGroup));
    if (served === undefined) return 'listed';
    return snapshot.knows({ apiVersion: served.apiVersion, kind, namespace, name }) ? 'listed' : 'failed';
  };
}

/**
 * Returns the objects in Git, with defaults and with values that other managers keep. Leaves out invalid objects and
 * objects in `leftAlone`.
 */
function declared({ gathered: { loaded, invalid }, leftAlone }: DesiredFrom): KubeObject[] {
  const broken = new Set(invalid.map(keyOf));
  const applied = loaded.filter(({ id }) => !broken.has(keyOf(id)) && !leftAlone.has(keyOf(id)));
  return applied.map((each) => each.defaulted ?? each.kept ?? each.object);
}
