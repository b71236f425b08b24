// A node beside the suite's API server: with a real one this machine is registered as a node; beside the embedded one it
// plays its controllers as well. Knows nothing about what runs.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalContainers, openLocalContainers } from '../../../src/devcluster/attach/local-containers.ts';
import { writeKubeconfigOfAccount } from '../../cluster/account.ts';
import { openServer, type SuiteServer } from '../../cluster/server.ts';
import { type Api, connect } from '../../recordings/api.ts';
import { openKubeletPort } from './kubelet-port.ts';
import { type NodeOptions, startNode, type TestNode } from './node.ts';
import { list } from './objects.ts';
import type { Image } from './pods.ts';
import { registerNode } from './real-node.ts';
import { controlWorkloads } from './workloads.ts';

export interface SuiteWithNode {
  readonly server: SuiteServer;
  readonly containers: LocalContainers;
  /** From now on the pods of these namespaces run. Once. */
  run(namespaces: readonly string[], images: Readonly<Record<string, Image>>): Promise<TestNode>;
  /** Of the node and the server. */
  close(): Promise<void>;
}

/** The controllers of the embedded server never make a workload ready by themselves. */
const NEVER_MS = 86_400_000;

/** Empty: the embedded server. */
export async function openServerWithNode(kubeconfig: string): Promise<SuiteWithNode> {
  const containers = openLocalContainers();
  const server = await openServer(kubeconfig, { containers, workloadsReadyAfterMs: NEVER_MS });
  const api = await connect(server.kubeconfig);
  const endings: (() => Promise<unknown>)[] = [() => api.close(), () => server.close()];
  const end = async () => {
    for (const ending of endings.splice(0).reverse()) await ending();
  };
  return {
    server,
    containers,
    async run(namespaces, images) {
      const joined = server.isReal
        ? await joinCluster(api, containers, namespaces, endings)
        : { boundTo: undefined, takesV5: true, before: () => controlWorkloads(api, namespaces) };
      const folder = mkdtempSync(join(tmpdir(), 'skep-node-'));
      endings.push(async () => rmSync(folder, { recursive: true, force: true }));
      const kubeconfigFor = kubeconfigs(server, folder);
      const node = startNode({ api, containers, images, kubeconfigFor, namespaces, ...joined });
      endings.push(() => node.stop());
      return node;
    },
    close: end,
  };
}

/** With the rights of the account, where the server knows any. */
function kubeconfigs(server: SuiteServer, folder: string): (namespace: string, account: string) => Promise<string> {
  return async (namespace, account) => {
    if (!server.isReal) return server.kubeconfig;
    const path = join(folder, `${namespace}-${account}`);
    await writeKubeconfigOfAccount(server.kubeconfig, namespace, path, account);
    return path;
  };
}

async function joinCluster(
  api: Api,
  containers: LocalContainers,
  namespaces: readonly string[],
  endings: (() => Promise<unknown>)[],
): Promise<Pick<NodeOptions, 'boundTo' | 'before' | 'takesV5'>> {
  const kubelet = await openKubeletPort(containers);
  endings.push(() => kubelet.close());
  const name = `skep-test-${randomBytes(4).toString('hex')}`;
  const node = await registerNode(api, name, kubelet.port);
  endings.push(() => node.remove());
  return { boundTo: name, takesV5: node.takesV5, before: () => node.keep(namespaces) };
}

/** Why pods of this server cannot run here; undefined: they can. */
export async function cannotRunPods(kubeconfig: string): Promise<string | undefined> {
  if (kubeconfig === '') return undefined;
  const api = await connect(kubeconfig);
  try {
    const { hostname } = new URL(api.url);
    if (!['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) return `the API server is at ${hostname}, not here`;
    const nodes = await list(api, '/api/v1/nodes');
    return nodes.length === 0 ? undefined : 'the cluster has nodes of its own';
  } finally {
    await api.close();
  }
}
