// Stories of one object on a real server: first desired, what others do, desired again; then what the server would do. Told
// in waves, one LIST for all objects of a kind before and after, as a run reads them.

import pLimit from 'p-limit';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { normalise } from '#kubernetes/rules/normalise.ts';
import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { type MergeType, rootType } from '#kubernetes/rules/openapi.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { seeded } from '../harness/random.ts';
import type { Api } from '../recordings/api.ts';
import { act } from './acts.ts';
import { collectionOf, type Subject } from './manifests.ts';
import { changed, respelt, type Written } from './people.ts';
import { answerOf, type Case, content } from './tally.ts';

export interface Teller {
  readonly api: Api;
  /** Applies as `manager`. */
  readonly client: ConnectedCluster;
  readonly manager: string;
  readonly seed: number;
  readonly namespace: string;
}

const AT_ONCE = 12;
const WAVE = 60;
/** Everything that an instance applies carries labels of its own. */
const LABELS = { 'skep.dev/source': 'verdicts' };

export async function typeOf({ client }: Pick<Teller, 'client'>, subject: Subject): Promise<MergeType> {
  const { apiVersion, kind } = subject;
  const document = await client.schema(apiVersion);
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  const type = document && rootType(document, { group: groupOf(apiVersion), version, kind });
  if (type === undefined) throw new Error(`the server publishes no schema of ${apiVersion} ${kind}`);
  return type;
}

/** `count` judged cases of a kind; stories whose first manifest the server refuses, and those that moved, are none. */
export async function tell(teller: Teller, subject: Subject, count: number): Promise<Case[]> {
  const type = await typeOf(teller, subject);
  const cases: Case[] = [];
  for (let next = 0; cases.length < count && next < count * 5; ) {
    const size = Math.min(WAVE, Math.ceil((count - cases.length) * 1.3));
    const numbers = Array.from({ length: size }, (_, index) => next + index);
    cases.push(...(await wave(teller, subject, type, numbers)));
    next += size;
  }
  return cases.slice(0, count);
}

interface Begun {
  readonly number: number;
  readonly name: string;
  readonly story: readonly string[];
  readonly first: KubeObject;
  readonly begins: boolean;
}

async function wave(teller: Teller, subject: Subject, type: MergeType, numbers: readonly number[]): Promise<Case[]> {
  const limit = pLimit(AT_ONCE);
  const begun = await Promise.all(numbers.map((number) => limit(() => begin(teller, subject, type, number))));
  const before = await listed(teller, subject);
  const judged = await Promise.all(
    begun.map((one) => limit(async () => (one.begins ? ask(teller, type, one, before.get(one.name)) : undefined))),
  );
  const after = await listed(teller, subject);
  await clear(teller, subject, begun);
  return judged
    .filter((one) => one !== undefined)
    .filter(({ live }) => {
      const now = after.get(live.metadata.name);
      return now !== undefined && content(now) === content(live);
    });
}

function randomOf({ seed }: Teller, { kind }: Subject, number: number, part: string) {
  return seeded(seed ^ Number.parseInt(sha256(`${kind} ${number} ${part}`).slice(0, 8), 16));
}

async function begin(teller: Teller, subject: Subject, type: MergeType, number: number): Promise<Begun> {
  const random = randomOf(teller, subject, number, 'first');
  const name = `${teller.namespace}-${number}`.slice(subject.namespaced ? teller.namespace.length + 1 : 0);
  const original = placed(random.pick(subject.manifests), teller, subject, `case-${name}`);
  const { object: first, what } = random.chance(0.5) ? changed(random, original, type) : { object: original, what: [] };
  const story = [`first (${what.join(', ')})`];
  const path = pathOf(teller, subject, first.metadata.name);
  const stage = { ...teller, random, type, path, applied: normalise(first, type) };
  const begun = { number, name: first.metadata.name, story, first };
  if (random.chance(0.12)) story.push(await makeAsAnother(teller, subject, stage.applied));
  if (random.chance(0.97)) {
    const refused = await apply(teller, stage.applied, false);
    if (refused instanceof Failure) return { ...begun, begins: false };
  }
  for (let acts = random.pick([0, 0, 1, 1, 1, 2, 3]); acts > 0; acts -= 1) story.push(await act(stage));
  return { ...begun, begins: true };
}

async function makeAsAnother({ api }: Teller, subject: Subject, object: KubeObject): Promise<string> {
  const { status } = await api.call({
    method: 'POST',
    path: collectionOf(object.metadata.namespace, subject),
    query: { fieldManager: 'kubectl-create' },
    contentType: 'application/json',
    body: JSON.stringify(object),
  });
  return `made by another: ${status}`;
}

/** The second desired, as a commit later says it, and the server's answer to it. */
async function ask(teller: Teller, type: MergeType, begun: Begun, live?: KubeObject): Promise<Case | undefined> {
  if (live === undefined) return undefined;
  const { number, first } = begun;
  const random = randomOf(teller, { kind: first.kind } as Subject, number, 'second');
  const chosen = random.integer(100);
  const second: Written =
    chosen < 35
      ? { object: first, what: ['the same'] }
      : chosen < 60
        ? respelt(random, first, type, live)
        : changed(random, first, type, live);
  const desired = normalise(second.object, type);
  const story = [...begun.story, `second (${second.what.join(', ')})`];
  const after = await apply(teller, desired, true);
  const answer = after instanceof Failure ? 'refused' : answerOf(live, after, teller.manager);
  return { kind: first.kind, number, story, desired: second.object, live, answer };
}

async function apply({ client }: Teller, object: KubeObject, dryRun: boolean): Promise<KubeObject | Failure> {
  return client.apply(object, { force: true, dryRun }).catch((error: unknown) => {
    if (error instanceof Failure && error.code !== 'cluster-unreachable' && error.code !== 'cluster-busy') return error;
    throw error;
  });
}

async function listed({ client, namespace }: Teller, subject: Subject): Promise<ReadonlyMap<string, KubeObject>> {
  const resource: ApiResource = { ...subject, verbs: [] };
  const objects = await client.list(resource, subject.namespaced ? namespace : undefined);
  return new Map(objects.map((object) => [object.metadata.name, object]));
}

async function clear({ api, ...teller }: Teller, subject: Subject, begun: readonly Begun[]): Promise<void> {
  const query = { propagationPolicy: 'Background', gracePeriodSeconds: '0' };
  if (subject.namespaced) {
    await api.call({ method: 'DELETE', path: collectionOf(teller.namespace, subject), query });
    return;
  }
  const limit = pLimit(AT_ONCE);
  const paths = begun.map(({ name }) => pathOf(teller, subject, name));
  await Promise.all(paths.map((path) => limit(() => api.call({ method: 'DELETE', path, query }))));
}

/** With a name and a namespace of the story's own. */
function placed(manifest: KubeObject, { namespace }: Teller, subject: Subject, name: string): KubeObject {
  const { namespace: _, labels, ...metadata } = structuredClone(manifest.metadata);
  const place = subject.namespaced ? { namespace } : {};
  return { ...structuredClone(manifest), metadata: { ...metadata, labels: { ...labels, ...LABELS }, name, ...place } };
}

function pathOf({ namespace }: Pick<Teller, 'namespace'>, subject: Subject, name: string): string {
  return `${collectionOf(subject.namespaced ? namespace : undefined, subject)}/${name}`;
}
