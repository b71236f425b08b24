// Plays one random history of an instance against an API server: commits, renames, moves between sources, typos, forced
// pushes, sources that come, go and get other names, rollbacks, runs that end in the middle, and objects of others. After each
// run it holds what was deleted against what is declared. Everything follows from the seed. In one file,
// because each step changes the same state.

import { randomBytes } from 'node:crypto';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import type { RepeatedRuns } from '#hosts/reconciler/instance/runs/repeated-run.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import type { ChangeOutcome } from '#reconciler/run/apply/apply.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { recordOf } from '#reconciler/run/history/record.ts';
import { applySetId, PART_OF, SOURCE } from '#reconciler/run/labels.ts';
import { approve } from '#reconciler/run/operate/approve.ts';
import { quarantine } from '#reconciler/run/operate/rollback.ts';
import { readQuarantine } from '#reconciler/run/records/quarantine.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { KeptResults } from '#reconciler/run/reuse.ts';
import { type RunDeps, reconcile } from '#reconciler/run/run.ts';
import { Failure } from '#std/failure.ts';
import { formatId } from '#std/problem.ts';
import { type Random, seeded } from '../harness/random.ts';
import { optionsOf } from '../harness/world.ts';
import {
  type Doc,
  keyOfDoc,
  type MemoryRepository,
  memoryRepository,
  push,
  type Version,
  versionOf,
} from './repositories.ts';

export interface Played {
  readonly steps: readonly string[];
  /** What must never happen; none where all is well. */
  readonly violations: readonly string[];
}

interface Live {
  readonly key: string;
  readonly uid: string;
  readonly source: string | undefined;
  readonly isOurs: boolean;
  readonly isLeaving: boolean;
  readonly value: string | undefined;
}

interface Source {
  name: string;
  readonly repository: MemoryRepository;
}

/** The state of one history. */
export interface Stage {
  readonly client: ConnectedCluster;
  readonly instance: string;
  readonly random: Random;
  readonly sources: Source[];
  readonly steps: string[];
  readonly violations: string[];
  readonly records: RunRecord[];
  /** Uids that are none of the instance's doing. */
  readonly foreign: Set<string>;
  /** Uids, and ids of what goes along, that someone has approved. */
  readonly approved: Set<string>;
  waiting: RunResult['plan']['waiting'];
  /** Of a process that stays; absent: each run is one of its own. */
  readonly staying: Staying | undefined;
}

export interface Staying {
  readonly reuse: KeptResults;
  readonly repeated: RepeatedRuns;
}

export const OBJECTS_MAX = 12;
const KINDS = ['ConfigMap', 'ConfigMap', 'ServiceAccount', 'MCPGroup'] as const;
const NAMES = ['one', 'two', 'three', 'four', 'five'] as const;
const API = {
  ConfigMap: 'v1',
  ServiceAccount: 'v1',
  Namespace: 'v1',
  MCPGroup: 'toolhive.stacklok.dev/v1alpha1',
} as const;

export function namespaceOf(instance: string, place: 'a' | 'b'): string {
  return `${instance}-${place}`;
}

export function openStage(client: ConnectedCluster, instance: string, seed: number, staying?: Staying): Stage {
  const stage: Stage = {
    client,
    staying,
    instance,
    random: seeded(seed),
    sources: [],
    steps: [],
    violations: [],
    records: [],
    foreign: new Set(),
    approved: new Set(),
    waiting: [],
  };
  addSource(stage);
  return stage;
}

export function addSource({ sources, instance, random, steps }: Stage): void {
  const name = `s${steps.length}`;
  const render = (doc: Doc): string => manifestOf(instance, doc);
  const docs = [0, 1]
    .map(() => randomDoc(random))
    .filter((doc, index, all) => all.findIndex((each) => keyOfDoc(each) === keyOfDoc(doc)) === index);
  sources.push({ name, repository: memoryRepository(versionOf(undefined, docs), render) });
  steps.push(`source ${name} comes with ${docs.map(keyOfDoc).join(', ')}`);
}

export function randomDoc(random: Random): Doc {
  if (random.chance(0.15)) return { kind: 'Namespace', name: 'b', value: 0, isBroken: false };
  const place = random.chance(0.7) ? 'a' : 'b';
  return { kind: random.pick(KINDS), place, name: random.pick(NAMES), value: random.integer(100), isBroken: false };
}

function manifestOf(instance: string, { kind, place, name, value, isBroken }: Doc): string {
  const at = place === undefined ? '' : `, namespace: ${namespaceOf(instance, place)}`;
  const own = kind === 'Namespace' ? namespaceOf(instance, 'b') : name;
  const head = `apiVersion: ${API[kind]}\nkind: ${kind}\nmetadata: {name: ${own}${at}, annotations: {example.com/value: '${value}'}${isBroken ? ', label: {a: b}' : ''}}\n`;
  return kind === 'MCPGroup' ? `${head}spec: {description: 'Number ${value}'}\n` : head;
}

export async function liveObjects({ client, instance }: Stage): Promise<readonly Live[]> {
  const served = await client.resources();
  const kinds = served.filter(
    ({ kind, apiVersion }) => groupOf((API as Record<string, string>)[kind] ?? 'none/') === groupOf(apiVersion),
  );
  const lists = await Promise.all(kinds.map((kind) => client.list(kind)));
  const set = applySetId(instance, 'default');
  return lists.flat().flatMap(({ kind, metadata }): Live[] => {
    const { name, namespace, uid = '', labels = {}, annotations = {}, deletionTimestamp } = metadata;
    const isMine = (namespace ?? name).startsWith(`${instance}-`);
    if (!isMine || name === 'kube-root-ca.crt' || (kind === 'ServiceAccount' && name === 'default')) return [];
    const key = kind === 'Namespace' ? `/Namespace/${name.slice(-1)}` : `${namespace?.slice(-1)}/${kind}/${name}`;
    const isOurs = labels[PART_OF] === set;
    return [
      {
        key,
        uid,
        source: labels[SOURCE],
        isOurs,
        isLeaving: deletionTimestamp !== undefined,
        value: annotations['example.com/value'],
      },
    ];
  });
}

function depsOf({ client, instance, sources, staying }: Stage, progress: (outcome: ChangeOutcome) => void): RunDeps {
  return {
    cluster: staying?.repeated.cluster ?? client,
    clock: systemClock,
    sources: sources.map(({ name, repository }) => ({ name, repository: repository.port, path: '' })),
    cache: new Map(),
    remembered: new Map(),
    random: randomBytes,
    digestKey: openDigestKey(client, instance, 'default'),
    progress,
    reuse: staying?.reuse,
    looked: staying?.repeated.looked,
  };
}

const LIMITS = { maxDeletes: 3, maxDeletesPercent: 60 };

function optionsFor(stage: Stage) {
  const { instance } = stage;
  return optionsOf({ instance, limits: LIMITS, waitSeconds: 0, namespaces: [`${instance}-*`] });
}

/** One run, which ends after so many outcomes where `endsAfter` is given; and what it has deleted is looked at. */
export async function runOnce(stage: Stage, endsAfter?: number): Promise<RunResult | undefined> {
  const before = await liveObjects(stage);
  const inForce = await versionsInForce(stage);
  let left = endsAfter ?? Number.POSITIVE_INFINITY;
  const ended = new Error('the process ended');
  const progress = (): void => {
    left -= 1;
    if (left < 0) throw ended;
  };
  let result: RunResult | undefined;
  try {
    result = await runNow(stage, progress);
    stage.waiting = result.plan.waiting;
    stage.records.unshift(recordOf(result));
  } catch (error) {
    if (error !== ended) throw error;
    stage.steps.push(`the run ended after ${endsAfter} outcomes`);
  }
  const after = new Map((await liveObjects(stage)).map((each) => [each.uid, each]));
  for (const each of before) {
    const now = after.get(each.uid);
    const wasDeleted = !each.isLeaving && (now === undefined || now.isLeaving);
    if (wasDeleted) stage.violations.push(...violationsOf(stage, each, inForce));
  }
  return result;
}

/**
 * In a process that stays each other run does all work again, and its results are compared with those that would have counted again. If nothing was read
 * that has changed, the run has nothing to do.
 */
async function runNow(stage: Stage, progress: (outcome: ChangeOutcome) => void): Promise<RunResult> {
  const { staying, steps, violations } = stage;
  const deps = depsOf(stage, progress);
  if (staying === undefined) return reconcile(deps, optionsFor(stage));
  const at = `after step ${steps.length} (${steps.at(-1)})`;
  const known = await staying.repeated.repeat('probe', deps.sources);
  if (steps.length % 2 === 0)
    staying.reuse.prove((stageName, key) => violations.push(`${at}: ${stageName} of ${key} was not to be used again`));
  try {
    const result = await staying.repeated.over(() => reconcile(deps, optionsFor(stage)));
    if (known !== undefined)
      for (const { action, resource } of result.outcomes)
        violations.push(`${at}: a run was to change nothing, and ${formatId(resource)} was ${action}`);
    return result;
  } finally {
    staying.reuse.ended();
  }
}

type InForce = ReadonlyMap<string, Version>;

/** By name of the source; of one that is rolled back the commit that it stays at. */
async function versionsInForce({ client, instance, sources }: Stage): Promise<InForce> {
  const { entries } = await readQuarantine(client, { instance, homeNamespace: 'default' });
  return new Map(
    sources.map(({ name, repository }) => {
      const entry = entries.get(name);
      const isKept = entry !== undefined && [entry.bad, ...entry.older].includes(repository.tip.commit);
      const good = isKept ? repository.versions.get(entry.good) : undefined;
      return [name, good ?? repository.tip];
    }),
  );
}

function violationsOf({ steps, sources, foreign, approved }: Stage, gone: Live, inForce: InForce): string[] {
  const at = `after step ${steps.length} (${steps.at(-1)}): ${gone.key}`;
  const declaring = [...inForce].find(([, { docs }]) => docs.some((doc) => keyOfDoc(doc) === gone.key));
  if (declaring !== undefined) return [`${at} was deleted, and source ${declaring[0]} declares it`];
  // It has moved to a source that was rolled back since.
  const moved = sources.find(
    ({ name, repository: { tip } }) =>
      inForce.get(name) !== tip && gone.source !== name && tip.docs.some((doc) => keyOfDoc(doc) === gone.key),
  );
  if (moved !== undefined) return [`${at} was deleted, and source ${moved.name}, which is rolled back, declares it`];
  const isApproved = approved.has(gone.uid) || approved.has(gone.key);
  if (isApproved) return [];
  if (foreign.has(gone.uid)) return [`${at} was deleted, and is not of the instance`];
  const version = inForce.get(gone.source ?? '');
  if (version === undefined) return [`${at} was deleted, and the configuration has no source ${gone.source}`];
  const fault = version.isUnreadable || version.docs.some(({ isBroken }) => isBroken);
  if (fault) return [`${at} was deleted while something of source ${gone.source} was at fault`];
  return version.docs.length === 0 ? [`${at} was deleted with all of source ${gone.source}`] : [];
}

/** What waits is let go, all of it; what has changed since the run that said so is left. */
export async function approveWaiting(stage: Stage): Promise<void> {
  for (const { hash, deletions } of stage.waiting) {
    try {
      await approve(
        depsOf(stage, () => undefined),
        optionsFor(stage),
        hash,
        1,
      );
    } catch (error) {
      if (error instanceof Failure && error.code === 'approval-not-waiting') continue;
      throw error;
    }
    for (const { uid, takes = [] } of deletions) {
      stage.approved.add(uid);
      for (const id of takes) stage.approved.add(id.replace(/^.*-([ab])\//, '$1/'));
    }
    stage.steps.push(`${deletions.length} deletions that wait are approved`);
  }
}

/** The sources stay at what an earlier run has read. */
export async function rollBack(stage: Stage): Promise<void> {
  const { records, sources, instance, random, steps } = stage;
  const known = records.filter(({ commits }) => sources.some(({ name }) => commits[name] !== undefined));
  if (known.length < 2) return;
  const to = random.pick(known.slice(1, 5));
  await quarantine(
    depsOf(stage, () => undefined),
    { instance, homeNamespace: 'default' },
    to,
    records,
  );
  steps.push(`back to run ${to.id}`);
}

export function commitTo(stage: Stage, source: Source, docs: readonly Doc[], what: string, isUnreadable = false): void {
  push(source.repository, versionOf(source.repository.tip, docs, isUnreadable));
  stage.steps.push(`${source.name}: ${what}`);
}
