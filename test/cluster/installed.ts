// An instance that works with the account and the rights of manifests/install, and is watched on the wire. Knows nothing
// about what the tests ask.

import { join } from 'node:path';
import { readConfig } from '../../src/main/config.ts';
import { type Instance, openInstance } from '../../src/main/instance.ts';
import { startProxy, type TestProxy } from '../harness/proxy.ts';
import { writeKubeconfigOfAccount } from './account.ts';
import type { SuiteServer } from './server.ts';

export interface Installed {
  /** What the instance asked of the API server. */
  readonly proxy: TestProxy;
  use<T>(work: (instance: Instance) => Promise<T>): Promise<T>;
}

/** `settings`: of skep.yaml, without the cluster. */
export async function openInstalled(
  server: SuiteServer,
  home: string,
  { dir, settings }: { readonly dir: string; readonly settings: object },
): Promise<Installed> {
  const kubeconfigPath = join(dir, 'account.kubeconfig');
  const { url, authority } = await writeKubeconfigOfAccount(server.kubeconfig, home, kubeconfigPath);
  const proxy = await startProxy({ url, authority, kubeconfigPath }, () => 'pass');
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
