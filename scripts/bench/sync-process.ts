// `skep sync` as a process of its own, as the image starts it, over a repository that was written for it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { imageNodeOptions } from './compiled.ts';
import { writeFleet } from './fleet-world.ts';
import type { Manifest } from './manifests.ts';
import { peakMiB } from './processes.ts';

export interface SyncInstance {
  /** Also the name of its folder, which is made. */
  readonly name: string;
  readonly manifests: readonly Manifest[];
  readonly children: boolean;
}

export interface Synced {
  readonly ms: number;
  /** What it printed, and complained of. */
  readonly output: string;
}

/** The path of its skep.yaml. */
export async function writeInstance(
  place: { readonly folder: string; readonly kubeconfig: string },
  { name, manifests, children }: SyncInstance,
): Promise<string> {
  const folder = join(place.folder, name);
  mkdirSync(folder);
  const repository = pathToFileURL(await writeFleet(folder, manifests)).href;
  const config = {
    ...{ name, children },
    sources: [{ name: 'fleet', repository, branch: 'main', path: 'cluster' }],
    outbound: { allowFiles: true },
    cluster: { kubeconfig: place.kubeconfig },
    apply: { waitSeconds: 0 },
    stateDir: join(folder, 'state'),
  };
  writeFileSync(join(folder, 'skep.yaml'), JSON.stringify(config));
  return join(folder, 'skep.yaml');
}

/** Throws where it does not end well, with what it said. Its memory is not read meanwhile, which would take it time. */
export function runSync(program: string, config: string): Promise<Synced> {
  return startSync(program, config).ended;
}

const LOOK_MS = 5;

/** The most memory, in MiB, that such a process has had, as far as it was looked at before its end. Throws as `runSync` does. */
export async function peakOfSync(program: string, config: string): Promise<number> {
  const { pid, ended } = startSync(program, config);
  let peak = 0;
  const looking = setInterval(() => {
    peak = Math.max(peak, peakMiB(pid) ?? 0);
  }, LOOK_MS);
  try {
    await ended;
    return peak;
  } finally {
    clearInterval(looking);
  }
}

function startSync(program: string, config: string): { readonly pid: number; readonly ended: Promise<Synced> } {
  const start = performance.now();
  const child = spawn(process.execPath, [...imageNodeOptions(), program, 'sync', '-c', config]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = new Promise<Synced>((resolve, reject) => {
    child.once('error', reject).once('exit', (status) => {
      if (status === 0) resolve({ ms: performance.now() - start, output });
      else reject(new assert.AssertionError({ message: `skep sync ended with ${status}:\n${output}` }));
    });
  });
  return { pid: child.pid ?? 0, ended };
}
