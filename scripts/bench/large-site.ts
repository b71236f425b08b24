// Where large fleets are measured: the API server that KUBECONFIG names, else the embedded one. What was made is deleted afterwards.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type BareClient, openBareClient } from './bare-cluster-client.ts';
import { compileBeside } from './compiled.ts';
import { CONNECTIONS } from './fleet-world.ts';
import { type ServerProcess, startModule } from './processes.ts';
import type { Place } from './sections.ts';
import type { Report, Row } from './table.ts';

export interface Site {
  /** What is measured: the instance's process, compiled. */
  readonly module: URL;
  /** The compiled `skep.js`. */
  readonly program: string;
  readonly kubeconfig: string;
  readonly bare: BareClient;
  readonly folder: string;
  /** What the names of all that is made begin with. */
  readonly run: string;
}

export async function measureOnServer(
  { folder, program }: Place,
  measure: (site: Site) => Promise<Row[]>,
): Promise<Report> {
  const named = process.env.KUBECONFIG ?? '';
  const embedded = named === '' ? await embeddedCluster(folder) : undefined;
  const kubeconfig = embedded?.ready ?? named;
  const bare = await openBareClient(kubeconfig, CONNECTIONS);
  const module = await compileBeside(program, new URL('./large-process.ts', import.meta.url));
  const run = `bench-${randomBytes(3).toString('hex')}`;
  try {
    const rows = await measure({ module, program, kubeconfig, bare, folder, run });
    const { gitVersion } = JSON.parse(await bare.send('GET', '/version'));
    return {
      rows,
      notices: [`large fleets: ${embedded === undefined ? 'API server' : 'embedded cluster'} ${gitVersion}`],
    };
  } finally {
    if (embedded === undefined) await cleanUp(bare, run);
    await bare.close();
    await embedded?.stop();
  }
}

function embeddedCluster(folder: string): Promise<ServerProcess<string>> {
  return startModule<string>(new URL('./cluster-process.ts', import.meta.url), join(folder, 'cluster'));
}

/** Namespaces and what is in them; the API server goes on deleting after this. */
async function cleanUp(bare: BareClient, run: string): Promise<void> {
  const { items } = JSON.parse(await bare.send('GET', '/api/v1/namespaces'));
  const names: string[] = items.map((item: { metadata: { name: string } }) => item.metadata.name);
  for (const name of names.filter((each) => each.startsWith(`${run}-`))) {
    await bare.send('DELETE', `/api/v1/namespaces/${name}`);
  }
}
