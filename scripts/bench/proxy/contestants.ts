// Lists the programs between client and server: none, the bare proxies, and ours.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { imageNodeOptions, moduleNodeOptions } from '../compiled.ts';
import { startModule } from '../processes.ts';
import type { Place } from '../sections.ts';
import { type Policies, writeProxyFiles } from './configuration.ts';
import type { ProxyIssuer } from './issuer.ts';
import { type Serving, startServing } from './serving.ts';

export interface ProxyWorld {
  readonly place: Place;
  readonly issuer: ProxyIssuer;
  /** The port of the server. */
  readonly backendPort: number;
}

const GO_SOURCE = fileURLToPath(new URL('../go/reverse-proxy.go', import.meta.url));

/** With the options of Node that our pods have. */
export async function startPassThrough({ backendPort }: ProxyWorld): Promise<Serving> {
  const module = new URL('./pass-through-process.ts', import.meta.url);
  const { ready, pid, stop } = await startModule<number>(module, backendPort, moduleNodeOptions('calls'));
  return { port: ready, pid, stop };
}

/** The path of the program; undefined where Go is not installed. Throws where it does not compile. */
export function buildReverseProxy(folder: string): string | undefined {
  const target = join(folder, 'reverse-proxy');
  const { error, status, stderr } = spawnSync('go', ['build', '-o', target, GO_SOURCE], { encoding: 'utf8' });
  if (error !== undefined) return undefined;
  if (status !== 0) throw new Error(`go build: ${stderr}`);
  return target;
}

export function startReverseProxy(program: string, { backendPort }: ProxyWorld): Promise<Serving> {
  return startServing(program, [`http://127.0.0.1:${backendPort}`]);
}

export interface ProxyKind {
  readonly policies: Policies;
  readonly backend: 'http' | 'stdio';
}

export const PLAIN_PROXY: ProxyKind = { policies: 'claims', backend: 'http' };

/** As its pod starts it. */
export async function startProxy(world: ProxyWorld, { policies, backend }: ProxyKind): Promise<Serving> {
  const { place, issuer, backendPort } = world;
  const [port, metricsPort] = [await freePort(), await freePort()];
  const config = writeProxyFiles({
    folder: place.folder,
    name: `${backend}-${policies}`,
    issuer,
    policies,
    backendPort: backend === 'http' ? backendPort : undefined,
    port,
    metricsPort,
  });
  return startConfigured(place, config, `${backend}-${policies}`);
}

/** `name`: for a profile. */
export function startConfigured(place: Place, config: string, name: string): Promise<Serving> {
  const profile = process.env.SKEP_BENCH_PROFILE;
  const options = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profile, name)}`];
  return startServing(
    process.execPath,
    [...imageNodeOptions('calls'), ...options, place.program, 'proxy', '--config', config],
    {
      ...process.env,
      NODE_ENV: 'production',
    },
  );
}
