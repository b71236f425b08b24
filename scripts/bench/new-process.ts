// `skep sync` as a new process: one that creates a fleet, beside requests with the same bodies, and one in which nothing changed,
// beside the LIST that it cannot do without.

import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { load } from 'js-yaml';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Site } from './large-site.ts';
import { API_GROUP, fleetOf, type Manifest } from './manifests.ts';
import { median } from './measure.ts';
import { runSync, writeInstance } from './sync-process.ts';
import type { Row } from './table.ts';

const SERVERS = 2_000;
/** Even: the baseline comes first in every second one. The same requests take a fifth more or less from round to round. */
const CREATE_ROUNDS = 8;
const IDLE_ROUNDS = 3;
const RESOURCES = `/apis/${API_GROUP}/v1alpha1`;
const PLURALS: Readonly<Record<string, string>> = { MCPGroup: 'mcpgroups', MCPServer: 'mcpservers' };

interface Round {
  readonly created: number;
  readonly bare: BareCreation;
  readonly idle: readonly number[];
  readonly lists: readonly number[];
  /** What was created. */
  readonly objects: readonly BareObject[];
}

/** Milliseconds of the requests alone. */
interface BareCreation {
  readonly tried: number;
  readonly made: number;
  /** With the query parameters that skep sends: the server parses each body once. */
  readonly parsedOnce: number;
}

/** Each round has a namespace for us and two for the baseline, which creates the same objects. Each is gone before the next is filled. */
export async function measureNewProcesses(site: Site): Promise<Row[]> {
  for (const kind of KINDS) {
    const definition = crd(kind, API_GROUP);
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
    await site.bare.patch(`${path}?fieldManager=bench&force=true`, JSON.stringify(definition));
  }
  const rounds: Round[] = [];
  for (let round = 0; round <= CREATE_ROUNDS; round += 1) rounds.push(await createOnce(site, round, rounds.at(-1)));
  return rowsOf(rounds.slice(1));
}

function rowsOf(rounds: readonly Round[]): Row[] {
  const ours = median(rounds.map(({ created }) => created));
  const created = { ours, unit: 'ms', name: `skep sync that creates ${SERVERS}` };
  return [
    {
      ...created,
      baseline: median(rounds.map(({ bare: { tried, made } }) => tried + made)),
      against: 'dry run and PATCH of the same, 16 at once',
    },
    { ...created, name: '...', baseline: median(rounds.map(({ bare }) => bare.made)), against: 'PATCH alone' },
    {
      ...created,
      name: '...',
      baseline: median(rounds.map(({ bare }) => bare.parsedOnce)),
      against: 'PATCH alone, fieldValidation=Ignore',
    },
    {
      name: `skep sync of ${SERVERS}, nothing changed`,
      ours: median(rounds.flatMap(({ idle }) => idle)),
      baseline: median(rounds.flatMap(({ lists }) => lists)),
      unit: 'ms',
      against: 'the paged LIST, JSON.parse',
    },
  ];
}

async function createOnce(site: Site, round: number, before: Round | undefined): Promise<Round> {
  const instance = `${site.run}-ours-${round}`;
  const other = `${site.run}-bare-${round}`;
  const early = before === undefined || round % 2 === 0 ? undefined : await createBare(site, before.objects, other);
  // Where a namespace is still to be made, nothing in it can be tried first.
  await createNamespace(site, instance);
  const manifests = fleetOf(SERVERS, instance);
  const config = await writeInstance(site, { name: instance, manifests, children: false });
  const created = await runSync(site.program, config);
  // The namespace is there.
  assert.match(created.output, new RegExp(`^${manifests.length - 1} created, `, 'm'));
  const idle = await runIdle(site, config, manifests.length);
  const objects = await readSent(site, instance, manifests);
  await remove(site, instance);
  const bare = early ?? (await createBare(site, objects, other));
  return { created: created.ms, ...idle, bare, objects };
}

async function runIdle(site: Site, config: string, objects: number): Promise<Pick<Round, 'idle' | 'lists'>> {
  const [idle, lists]: [number[], number[]] = [[], []];
  for (let again = 0; again < IDLE_ROUNDS; again += 1) {
    const { ms, output } = await runSync(site.program, config);
    assert.match(output, new RegExp(`^0 created, 0 configured, ${objects} unchanged, `, 'm'));
    idle.push(ms);
    const start = performance.now();
    await site.bare.listAll(Object.values(PLURALS).map((plural) => `${RESOURCES}/${plural}`));
    lists.push(performance.now() - start);
  }
  return { idle, lists };
}

async function createNamespace({ bare }: Site, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await bare.patch(`/api/v1/namespaces/${name}?fieldManager=bench`, body);
}

/** Resolves when it is gone with all that is in it: what others left behind would be listed with each run. */
async function remove({ bare }: Site, name: string): Promise<void> {
  const path = '/api/v1/namespaces';
  await bare.send('DELETE', `${path}/${name}`);
  const isThere = async () => JSON.parse(await bare.send('GET', `${path}?fieldSelector=metadata.name%3D${name}`));
  while ((await isThere()).items.length > 0) await setTimeout(500);
}

interface BareObject {
  readonly plural: string;
  readonly name: string;
  /** Without its namespace. */
  readonly object: KubeObject;
}

async function createBare(site: Site, objects: readonly BareObject[], to: string): Promise<BareCreation> {
  const plain = await createIn(site, objects, { namespace: to, query: '' });
  const asOurs = { namespace: `${to}-again`, query: '&force=true&fieldValidation=Ignore' };
  return { ...plain, parsedOnce: (await createIn(site, objects, asOurs)).made };
}

async function createIn(
  site: Site,
  objects: readonly BareObject[],
  { namespace, query }: { readonly namespace: string; readonly query: string },
): Promise<Omit<BareCreation, 'parsedOnce'>> {
  await createNamespace(site, namespace);
  const requests = objects.map(({ plural, name, object }) => ({
    path: `${RESOURCES}/namespaces/${namespace}/${plural}/${name}?fieldManager=bench${query}`,
    body: JSON.stringify({ ...object, metadata: { ...object.metadata, namespace } }),
  }));
  async function send(more: string): Promise<number> {
    const start = performance.now();
    await Promise.all(requests.map(({ path, body }) => site.bare.patch(path + more, body)));
    return performance.now() - start;
  }
  const sent = { tried: await send('&dryRun=All'), made: await send('') };
  await remove(site, namespace);
  return sent;
}

/** The namespaced objects of the manifests, with the labels and annotations that they were given. */
async function readSent(
  { bare }: Site,
  namespace: string,
  manifests: readonly Manifest[],
): Promise<readonly BareObject[]> {
  const pages = await bare.listAll(
    Object.values(PLURALS).map((plural) => `${RESOURCES}/namespaces/${namespace}/${plural}`),
  );
  const live = new Map(
    pages.flatMap((page): KubeObject[] => JSON.parse(page).items).map((each) => [nameOf(each), each.metadata]),
  );
  return manifests.flatMap(({ content }) => {
    const object = load(content) as KubeObject;
    const plural = PLURALS[object.kind];
    if (plural === undefined) return [];
    const found = live.get(nameOf(object));
    assert(found !== undefined, `${nameOf(object)} was created`);
    const { name, labels, annotations } = found;
    return { plural, name, object: { ...object, metadata: { name, labels, annotations } } };
  });
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}
