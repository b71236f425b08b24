// Registers this machine as a node at an API server on this machine that has no nodes: creates the Node and its Lease,
// and binds pods to the Node.

import type { Pod } from '#kubernetes/devcluster/node/objects.ts';
import type { Api } from '../../recordings/api.ts';
import { list, podsPath, write } from './http-api.ts';
import { TAKES_V5 } from './kubelet-port.ts';

export interface RealNode {
  /** False if the server is older than 1.36, which does not store the declared features of nodes. */
  readonly takesV5: boolean;
  /** Renews the Lease, and binds the pods of these namespaces to the node. */
  keep(namespaces: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

const RENEW_MS = 5000;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

export async function registerNode(api: Api, name: string, kubeletPort: number): Promise<RealNode> {
  const now = new Date().toISOString();
  const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' };
  const metadata = { name };
  await write(api, 'POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata });
  const stored = await write(api, 'PATCH', `/api/v1/nodes/${name}/status`, {
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      declaredFeatures: [TAKES_V5],
      conditions: [{ ...condition, lastHeartbeatTime: now, lastTransitionTime: now }],
    },
  });
  const spec = { holderIdentity: name, leaseDurationSeconds: 40 };
  await write(api, 'POST', LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
  let renewed = 0;

  async function renew(): Promise<void> {
    if (Date.now() - renewed < RENEW_MS) return;
    renewed = Date.now();
    // Times of Leases have microseconds.
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    await write(api, 'PATCH', `${LEASES}/${name}`, { spec: { renewTime } });
  }

  return {
    takesV5: JSON.stringify(stored).includes(TAKES_V5),
    async keep(namespaces) {
      await renew();
      const lists = await Promise.all(namespaces.map((namespace) => list<Pod>(api, podsPath(namespace))));
      const waiting = lists.flat().filter(({ metadata, spec }) => isUnbound(spec) && isWanted(metadata));
      await Promise.all(waiting.map((pod) => bind(api, pod, name)));
    },
    async remove() {
      const pods = await list<Pod>(api, '/api/v1/pods');
      for (const { metadata } of pods.filter(({ spec }) => spec.nodeName === name)) {
        const path = `${podsPath(metadata.namespace)}/${metadata.name}`;
        await write(api, 'DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
      }
      await write(api, 'DELETE', `${LEASES}/${name}`, {});
      await write(api, 'DELETE', `/api/v1/nodes/${name}`, {});
    },
  };
}

function isUnbound({ nodeName = '' }: Pod['spec']): boolean {
  return nodeName === '';
}

function isWanted({ deletionTimestamp }: Pod['metadata']): boolean {
  return deletionTimestamp === undefined;
}

async function bind(api: Api, { metadata: { namespace, name, uid } }: Pod, node: string): Promise<void> {
  await write(api, 'POST', `${podsPath(namespace)}/${name}/binding`, {
    ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid } },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  });
}
