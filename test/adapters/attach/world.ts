// A development cluster with one pod whose container is a local process, and the options to attach to it.

import type { AttachOptions, AttachProtocol } from '#adapters/attach/options.ts';
import {
  type ContainerInput,
  type LocalContainers,
  openLocalContainers,
} from '#kubernetes/devcluster/node/local-containers.ts';
import { clock } from '../../gateway/backends/stdio/world.ts';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';

export const POD = { namespace: 'default', pod: 'server-0', container: 'mcp' };
const PODS = '/api/v1/namespaces/default/pods';

export interface AttachWorld {
  readonly cluster: TestCluster;
  readonly containers: LocalContainers;
  readonly options: AttachOptions;
  /** Starts the container's process and says so in the pod's status. */
  run(file: string, args?: readonly string[], env?: Record<string, string>, input?: ContainerInput): Promise<void>;
  /** Creates the pod again, as a StatefulSet does when it is deleted. */
  replace(): Promise<void>;
  stop(): Promise<void>;
}

export async function openAttachWorld(protocols?: readonly AttachProtocol[]): Promise<AttachWorld> {
  const containers = openLocalContainers();
  const cluster = await startTestCluster({ containers, attachProtocols: protocols });
  const spec = { containers: [{ name: 'mcp', image: 'a:1' }] };
  let restartCount = -1;
  async function createPod(): Promise<void> {
    await cluster.send('POST', PODS, { body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: POD.pod }, spec } });
  }
  await createPod();
  return {
    cluster,
    containers,
    options: {
      ...{ server: cluster.url, namespace: 'default', pod: () => POD.pod, container: 'mcp', clock },
      credentials: async () => ({
        headers: { authorization: `Bearer ${cluster.token}` },
        tls: { ca: cluster.authority },
      }),
    },
    async run(file, args = [], env = {}, input = {}) {
      restartCount += 1;
      const command = { program: process.execPath, args: [file, ...args], env };
      const containerID = containers.start(POD, command, input);
      const status = { name: 'mcp', containerID, restartCount, ready: true, image: 'a:1', imageID: 'a' };
      const body = { status: { phase: 'Running', containerStatuses: [{ ...status, state: { running: {} } }] } };
      const path = `${PODS}/${POD.pod}/status`;
      const answer = await cluster.send('PATCH', path, { body, contentType: 'application/merge-patch+json' });
      if (answer.status !== 200) throw new Error(answer.text);
    },
    async replace() {
      restartCount = -1;
      await createPod();
    },
    async stop() {
      await containers.stop();
      await cluster.stop();
    },
  };
}
