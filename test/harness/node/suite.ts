// Starts the suite's API server with a node. For a real API server, registers this machine as a node, which uses the
// API over HTTP.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerName } from '#kubernetes/devcluster/attach/containers.ts';
import type { LocalContainers } from '#kubernetes/devcluster/node/local-containers.ts';
import { type ClusterNode, startNode } from '#kubernetes/devcluster/node/node.ts';
import type { Pod } from '#kubernetes/devcluster/node/objects.ts';
import type { FindProgram, ImageProgram } from '#kubernetes/devcluster/node/ports.ts';
import { writeKubeconfigOfAccount } from '../../cluster/account.ts';
import { openServer, type SuiteServer } from '../../cluster/server.ts';
import { type Api, connect } from '../../recordings/api.ts';
import { REAL_CLOCK } from '../cluster.ts';
import { httpNodeApi, list, podsPath } from './http-api.ts';
import { openKubeletPort } from './kubelet-port.ts';
import { registerNode } from './real-node.ts';

/** Programs that run instead of images, by image. */
export type Images = Readonly<Record<string, ImageProgram>>;

export interface TestNode {
  /** True if `pods/attach` also supports v5.channel.k8s.io. */
  readonly takesV5: boolean;
  readonly containers: LocalContainers;
  /** Returns the URL of a Service for clients on this machine. */
  url(namespace: string, service: string, port: number): Promise<string>;
  /** Sends SIGKILL to the container, as an out-of-memory kill does. `pod` is a prefix of the pod's name. */
  kill(name: ContainerName): Promise<void>;
  /** Returns the logs of the containers of all existing pods. */
  log(): Promise<string>;
}

export interface SuiteWithNode {
  readonly server: SuiteServer;
  /** Starts running the pods of these namespaces. Must be called only once. */
  run(namespaces: readonly string[], images: Images): Promise<TestNode>;
  /** Stops the node and the server. */
  close(): Promise<void>;
}

/** If `kubeconfig` is empty, starts the embedded server. */
export async function openServerWithNode(kubeconfig: string): Promise<SuiteWithNode> {
  let images: Images = {};
  const find: FindProgram = ({ image }) =>
    images[image] ?? { absent: `the test does not say what ${image} stands for` };
  const path = process.env.PATH ?? '';
  const server = await openServer(kubeconfig, { node: { find, path } });
  const api = await connect(server.kubeconfig);
  const endings: (() => Promise<unknown>)[] = [() => api.close(), () => server.close()];
  return {
    server,
    async run(namespaces, given) {
      images = given;
      if (server.node !== undefined) return testNode(api, server.node, namespaces, true);
      return runOverHttp({ api, find, path, namespaces, endings });
    },
    async close() {
      for (const ending of endings.splice(0).reverse()) await ending();
    },
  };
}

interface Joining {
  readonly api: Api;
  readonly find: FindProgram;
  readonly path: string;
  readonly namespaces: readonly string[];
  readonly endings: (() => Promise<unknown>)[];
}

async function runOverHttp({ api, find, path, namespaces, endings }: Joining): Promise<TestNode> {
  const name = `skep-test-${randomBytes(4).toString('hex')}`;
  const dir = mkdtempSync(join(tmpdir(), 'skep-node-'));
  endings.push(async () => rmSync(dir, { recursive: true, force: true }));
  let keep = async () => undefined as unknown;
  const before = async () => void (await keep());
  const failures: unknown[] = [];
  const failed = (error: unknown) => void failures.push(error);
  const objects = httpNodeApi(api, { namespaces, node: name, before });
  const apiServer = () => api.url;
  const node = startNode({ api: objects, apiServer, clock: REAL_CLOCK, dir, find, path, failed });
  endings.push(async () => {
    await node.stop();
    if (failures.length > 0) throw failures[0];
  });
  const kubelet = await openKubeletPort(node.containers);
  endings.push(() => kubelet.close());
  const registered = await registerNode(api, name, kubelet.port);
  endings.push(() => registered.remove());
  keep = () => registered.keep(namespaces);
  return testNode(api, node, namespaces, registered.takesV5);
}

function testNode(api: Api, node: ClusterNode, namespaces: readonly string[], takesV5: boolean): TestNode {
  async function podsOf(): Promise<readonly Pod[]> {
    return (await Promise.all(namespaces.map((namespace) => list<Pod>(api, podsPath(namespace))))).flat();
  }
  return {
    takesV5,
    containers: node.containers,
    url: async (namespace, service, port) => `http://127.0.0.1:${await node.services.port(namespace, service, port)}`,
    async kill({ namespace, pod, container }) {
      for (const { metadata } of await podsOf()) {
        if (metadata.namespace !== namespace || !metadata.name.startsWith(pod)) continue;
        node.containers.signal({ namespace, pod: metadata.name, container }, 'SIGKILL');
      }
    },
    async log() {
      const names = (await podsOf()).flatMap(({ metadata: { namespace, name }, spec }) =>
        spec.containers.map((container) => ({ namespace, pod: name, container: container.name })),
      );
      return names
        .flatMap(
          (name) =>
            node
              .container(name)
              ?.log.lines(false)
              .map(({ text }) => text) ?? [],
        )
        .join('\n');
    },
  };
}

/**
 * Returns a function that writes a pod's kubeconfig. On a real server, the kubeconfig has the pod's service account.
 */
export function kubeconfigOfPods(server: SuiteServer): NonNullable<ImageProgram['environment']> {
  const folder = mkdtempSync(join(tmpdir(), 'skep-accounts-'));
  server.atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return async ({
    metadata: { namespace },
    spec: { serviceAccountName = 'default', ...spec },
  }): Promise<Record<string, string>> => {
    if (spec.automountServiceAccountToken === false) return {};
    if (!server.isReal) return { KUBECONFIG: server.kubeconfig };
    const path = join(folder, `${namespace}-${serviceAccountName}`);
    await writeKubeconfigOfAccount(server.kubeconfig, namespace, path, serviceAccountName);
    return { KUBECONFIG: path };
  };
}

/** Returns the reason why pods of this server cannot run on this machine. undefined if they can. */
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
