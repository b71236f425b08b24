// The memory of a whole `skep sync` in which nothing changed, beside Secrets of others and with Secrets that Git declares, as
// large as they may be; and of one that only has to get through.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { type BareClient, openBareClient } from './bare-cluster-client.ts';
import { API_GROUP } from './manifests.ts';
import { startModule } from './processes.ts';
import type { Place } from './sections.ts';
import { peakOfSync, runSync, writeInstance } from './sync-process.ts';
import type { Report, Row } from './table.ts';

const NAMESPACE = 'contents';
const LARGE = 400_000;
/** What a Secret may hold at most is 1.4 MB of base64. */
const LARGEST = 1_040_000;
const FOREIGN = 500;
const LARGEST_FOREIGN = 400;
const DECLARED = 500;
const ROUNDS = 3;

export async function benchContents(place: Place): Promise<Report> {
  const cluster = await startModule<string>(
    new URL('./cluster-process.ts', import.meta.url),
    join(place.folder, 'cluster'),
  );
  const bare = await openBareClient(cluster.ready, 4);
  try {
    for (const kind of KINDS) await applyTo(bare, crd(kind, API_GROUP));
    await applyTo(bare, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    const site = { place, kubeconfig: cluster.ready };
    const [declaring, alone] = [await writeSecrets(site, 'declaring', DECLARED), await writeSecrets(site, 'alone', 0)];
    await runSync(place.program, alone);
    const base = await leastPeak(place, alone);
    for (let i = 0; i < FOREIGN; i += 1) await applyTo(bare, secret(`foreign-${i}`, LARGE));
    const beside = await leastPeak(place, alone);
    for (let i = 0; i < LARGEST_FOREIGN; i += 1) await applyTo(bare, secret(`largest-${i}`, LARGEST));
    const largest = await leastPeak(place, alone);
    const created = await peakOfSync(place.program, declaring);
    const declared = await leastPeak(place, declaring);
    return { rows: rowsOf({ base, beside, largest, declared, created }), notices: [] };
  } finally {
    await bare.close();
    await cluster.stop();
  }
}

function rowsOf(peaks: Readonly<Record<'base' | 'beside' | 'largest' | 'declared' | 'created', number>>): Row[] {
  const { base: baseline, beside, largest, declared, created } = peaks;
  const row = { baseline, unit: 'MiB', against: 'the same without any Secrets' };
  return [
    { ...row, name: `skep sync, ${FOREIGN} Secrets of others of 400 kB`, ours: beside },
    { ...row, name: `... and ${LARGEST_FOREIGN} of 1.4 MB`, ours: largest },
    { ...row, name: `skep sync that declares ${DECLARED} Secrets of 400 kB`, ours: declared },
    { ...row, name: '... that creates them', ours: created },
  ];
}

function secret(name: string, bytes: number): KubeObject {
  const data = { content: randomBytes(bytes).toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: NAMESPACE }, data };
}

async function applyTo(bare: BareClient, object: KubeObject): Promise<void> {
  const { name } = object.metadata;
  const paths: Readonly<Record<string, string>> = {
    CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    Namespace: '/api/v1/namespaces',
    Secret: `/api/v1/namespaces/${NAMESPACE}/secrets`,
  };
  await bare.patch(`${paths[object.kind]}/${name}?fieldManager=bench`, JSON.stringify(object));
}

interface Site {
  readonly place: Place;
  readonly kubeconfig: string;
}

/** With so many Secrets; the path of its skep.yaml. */
function writeSecrets({ place: { folder }, kubeconfig }: Site, name: string, secrets: number): Promise<string> {
  const files = Array.from({ length: secrets }, (_, i) => ({
    path: `cluster/${i}.yaml`,
    content: `${JSON.stringify(secret(`declared-${i}`, LARGE))}\n`,
  }));
  const own = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${NAMESPACE}}\ndata: {k: v}\n`;
  const manifests = [...files, { path: 'cluster/own.yaml', content: own }];
  return writeInstance({ folder, kubeconfig }, { name, manifests, children: true });
}

/** What else the machine does makes the collector later, never earlier. */
async function leastPeak({ program }: Place, config: string): Promise<number> {
  const peaks: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) peaks.push(await peakOfSync(program, config));
  return Math.min(...peaks);
}
