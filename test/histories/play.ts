// The steps that a random history is made of, and its end: everything valid, and the cluster as Git says.

import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { applySetId, PART_OF, SOURCE } from '#reconciler/run/labels.ts';
import { clearQuarantine } from '#reconciler/run/records/quarantine.ts';
import { eventually } from '../harness/cluster.ts';
import {
  addSource,
  approveWaiting,
  commitTo,
  liveObjects,
  namespaceOf,
  OBJECTS_MAX,
  openStage,
  type Played,
  randomDoc,
  rollBack,
  runOnce,
  type Stage,
  type Staying,
} from './player.ts';
import { type Doc, keyOfDoc } from './repositories.ts';

const HOME = 'default';

/** `instance`: a name that no other history on this server has. `staying`: absent if each run is a process of its own. */
export async function playHistory(
  client: ConnectedCluster,
  instance: string,
  seed: number,
  staying?: Staying,
): Promise<Played> {
  const stage = openStage(client, instance, seed, staying);
  const { random, steps, violations } = stage;
  await makeForeign(stage, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceOf(instance, 'a') } });
  await runOnce(stage);
  const count = 6 + random.integer(7);
  for (let step = 0; step < count && violations.length === 0; step += 1) {
    await takeStep(stage);
    if (random.chance(0.2)) await runOnce(stage, random.integer(4));
    if (random.chance(0.9)) await runOnce(stage);
    if (random.chance(0.3)) await approveWaiting(stage);
  }
  if (violations.length === 0) violations.push(...(await endOf(stage)));
  return { steps, violations };
}

async function takeStep(stage: Stage): Promise<void> {
  const { random, sources } = stage;
  const source = random.pick(sources);
  const { docs } = source.repository.tip;
  const doc = docs.length === 0 ? undefined : random.pick(docs);
  const others = docs.filter((each) => each !== doc);
  const fresh = randomDoc(random);
  const free = isFree(stage, fresh) ? [fresh] : [];
  const roll = random.integer(14);
  if (roll < 3) return commitTo(stage, source, [...docs, ...free], `adds ${free.map(keyOfDoc).join()}`);
  if (doc === undefined) return addSource(stage);
  if (roll === 3) return commitTo(stage, source, others, `removes ${keyOfDoc(doc)}`);
  if (roll === 4) return commitTo(stage, source, others.slice(0, 1), 'keeps one at most');
  if (roll < 7) {
    const renamed = free.map((each): Doc => ({ ...each, isBroken: random.chance(0.6) && each.kind !== 'Namespace' }));
    return commitTo(stage, source, [...others, ...renamed], `${keyOfDoc(doc)} becomes ${renamed.map(keyOfDoc).join()}`);
  }
  if (roll === 7) return commitTo(stage, source, [...others, { ...doc, isBroken: true }], `a typo in ${keyOfDoc(doc)}`);
  if (roll === 8) return commitTo(stage, source, others, 'something cannot be read', true);
  if (roll === 9) return move(stage, doc);
  if (roll === 10) return pushOver(stage, source);
  if (roll === 11) return changeSources(stage, source);
  if (roll === 12) return random.chance(0.7) ? rollBack(stage) : release(stage);
  return makeForeignMap(stage);
}

function isFree({ sources }: Stage, doc: Doc): boolean {
  const all = sources.flatMap(({ repository }) => repository.tip.docs);
  return all.length < OBJECTS_MAX && !all.some((each) => keyOfDoc(each) === keyOfDoc(doc));
}

/** In two commits, in either order, with a run in between or not. */
async function move(stage: Stage, doc: Doc): Promise<void> {
  const { random, sources } = stage;
  const from = sources.find(({ repository }) => repository.tip.docs.includes(doc));
  const to = random.pick(sources);
  if (from === undefined || from === to) return;
  const leave = () =>
    commitTo(
      stage,
      from,
      from.repository.tip.docs.filter((each) => each !== doc),
      `gives ${keyOfDoc(doc)} away`,
    );
  const arrive = () => commitTo(stage, to, [...to.repository.tip.docs, doc], `takes ${keyOfDoc(doc)}`);
  const [first, second] = random.chance(0.8) ? [arrive, leave] : [leave, arrive];
  first();
  if (first === arrive && random.chance(0.5)) await runOnce(stage);
  second();
}

/** The ref names another line of history, or an older commit of its own. */
function pushOver(stage: Stage, source: Stage['sources'][number]): void {
  const { random, steps } = stage;
  const { repository } = source;
  const older = repository.tip.parent;
  if (older !== undefined && random.chance(0.5)) {
    repository.tip = older;
    steps.push(`${source.name} goes back by one commit`);
    return;
  }
  const docs = random.chance(0.5) ? [] : [randomDoc(random)].filter((doc) => isFree(stage, doc));
  commitTo(stage, source, docs, `is pushed over with ${docs.map(keyOfDoc).join() || 'nothing'}`);
}

function changeSources(stage: Stage, source: Stage['sources'][number]): void {
  const { random, sources, steps } = stage;
  const roll = random.integer(3);
  if (roll === 0 && sources.length < 3) addSource(stage);
  else if (roll === 1 && sources.length > 1) {
    sources.splice(sources.indexOf(source), 1);
    steps.push(`source ${source.name} is taken out of skep.yaml`);
  } else {
    steps.push(`source ${source.name} is called s${steps.length}`);
    source.name = `s${steps.length - 1}`;
  }
}

async function release({ client, instance, steps }: Stage): Promise<void> {
  await clearQuarantine(client, { instance, homeNamespace: HOME }, []);
  steps.push('the rollback is over');
}

async function makeForeign(
  { client, foreign }: Stage,
  object: Parameters<ConnectedCluster['create']>[0],
): Promise<void> {
  const { metadata } = await client.create(object);
  foreign.add(metadata.uid ?? '');
}

/** In a namespace that is there; some with labels that say it is of the instance, and under the name of its field manager. */
async function makeForeignMap(stage: Stage): Promise<void> {
  const { client, instance, random, steps } = stage;
  const live = await liveObjects(stage);
  const hasB = live.some(({ key, isLeaving }) => key === '/Namespace/b' && !isLeaving);
  const namespace = namespaceOf(instance, hasB && random.chance(0.6) ? 'b' : 'a');
  const metadata = { name: `theirs-${steps.length}`, namespace };
  steps.push(`somebody else makes ${metadata.name} in ${namespace}`);
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  await makeForeign(stage, object);
  if (random.chance(0.6)) return;
  const labels = { [PART_OF]: applySetId(instance, HOME), [SOURCE]: random.pick(stage.sources).name };
  await client.apply({ ...object, metadata: { ...metadata, labels } }, { force: true });
  steps.push('and labels it as of the instance');
}

/** Everything is valid, each object is declared once and in a namespace that is there, and what waits is approved. */
async function endOf(stage: Stage): Promise<string[]> {
  const { client, instance, sources, steps } = stage;
  await release(stage);
  const declared = new Map<string, Doc>();
  for (const [index, source] of sources.entries()) {
    const own: Doc[] = [];
    for (const doc of source.repository.tip.docs) {
      if (declared.has(keyOfDoc(doc))) continue;
      own.push({ ...doc, isBroken: false });
      declared.set(keyOfDoc(doc), doc);
    }
    const isLast = index === sources.length - 1;
    const needsB = isLast && !declared.has('/Namespace/b') && [...declared.values()].some(({ place }) => place === 'b');
    const namespace: Doc[] = needsB ? [{ kind: 'Namespace', name: 'b', value: 0, isBroken: false }] : [];
    for (const doc of namespace) declared.set(keyOfDoc(doc), doc);
    commitTo(stage, source, [...own, ...namespace], 'is made valid');
  }
  let differing: string[] = [];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await runOnce(stage);
    await approveWaiting(stage);
    // What is being deleted goes in its own time, a namespace when its content has gone.
    const live = await eventually(
      () => liveObjects(stage),
      (all) => all.every(({ isLeaving }) => !isLeaving),
    );
    differing = differencesOf(stage, live, declared);
    if (differing.length === 0 && stage.waiting.length === 0) return stage.violations;
    await client.refresh();
  }
  return [...stage.violations, ...differing.map((each) => `in the end (${steps.length} steps, ${instance}) ${each}`)];
}

const ROUNDS_MAX = 40;

function differencesOf(
  { foreign }: Stage,
  live: Awaited<ReturnType<typeof liveObjects>>,
  declared: ReadonlyMap<string, Doc>,
): string[] {
  const byKey = new Map(live.map((each) => [each.key, each]));
  return [
    ...[...declared].flatMap(([key, { value }]) => {
      const found = byKey.get(key);
      if (found === undefined || found.isLeaving) return [`${key} is declared and does not exist`];
      return found.value === String(value) ? [] : [`${key} has ${found.value} instead of ${value}`];
    }),
    ...live.flatMap(({ key, uid, isOurs }) => {
      // What is labelled as of the instance, and is not, may stay, and keeps its namespace.
      const isKept =
        foreign.has(uid) ||
        (key === '/Namespace/b' && live.some((each) => foreign.has(each.uid) && each.key.startsWith('b/')));
      return isOurs && !declared.has(key) && !isKept ? [`${key} is still there`] : [];
    }),
  ];
}
