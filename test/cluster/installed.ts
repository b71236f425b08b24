// An instance that works with the account and the rights of manifests/install, and is watched on the wire.

import { join } from 'node:path';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { type Instance, openInstance } from '#hosts/reconciler/instance/instance.ts';
import { approve } from '#reconciler/run/operate/approve.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { type Fate, type Passing, startProxy, type TestProxy } from '../harness/proxy.ts';
import { writeKubeconfigOfAccount } from './account.ts';
import type { SuiteServer } from './server.ts';

export interface Installed {
  /** What the instance asked of the API server. */
  readonly proxy: TestProxy;
  use<T>(work: (instance: Instance) => Promise<T>): Promise<T>;
}

/** A run whose only list of deletions is approved then, by someone with rights of their own. */
export async function approveWaiting(
  one: Installed,
  run: () => Promise<RunResult>,
  cluster: ConnectedCluster,
): Promise<void> {
  const [waiting] = (await run()).plan.waiting;
  if (waiting === undefined) throw new Error('nothing waits');
  await one.use((instance) => approve({ ...instance.deps, cluster }, instance.options(), waiting.hash, 1));
}

interface Opening {
  readonly dir: string;
  readonly settings: object;
  readonly decide?: (passing: Passing) => Fate;
}

/** `settings`: of skep.yaml, without the cluster. `decide`: what becomes of a request on its way; it passes. */
export async function openInstalled(
  server: SuiteServer,
  home: string,
  { dir, settings, decide = () => 'pass' }: Opening,
): Promise<Installed> {
  const kubeconfigPath = join(dir, 'account.kubeconfig');
  const { url, authority } = await writeKubeconfigOfAccount(server.kubeconfig, home, kubeconfigPath);
  const proxy = await startProxy({ url, authority, kubeconfigPath }, decide);
  return {
    proxy,
    async use(work) {
      const text = JSON.stringify({ ...settings, cluster: { kubeconfig: proxy.kubeconfigPath } });
      const instance = await openInstance(readConfig({ text, file: 'skep.yaml', environment: {} }), () => undefined);
      try {
        return await work(instance);
      } finally {
        await instance.close();
      }
    },
  };
}
