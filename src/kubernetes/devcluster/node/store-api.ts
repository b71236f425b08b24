// Gives the node access to the objects of the embedded API server. The cluster has one node, which runs all pods.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { podToken } from '../accounts/accounts.ts';
import type { AccountSigner } from '../accounts/signer.ts';
import type { ApiContext } from '../api/context.ts';
import { recordEvent } from '../controllers/events.ts';
import { ownersOf } from '../controllers/owners.ts';
import { writeChange, writeRemoval } from '../controllers/writer.ts';
import { asPod, type Data, type Service } from './objects.ts';
import type { NodeApi } from './ports.ts';

const MANAGER = 'kubelet';
const PODS = '/pods';
const MOUNTED = ['/configmaps', '/secrets'];

export interface NodeAccounts {
  readonly signer: AccountSigner;
  /** PEM of the authority that signed the API server's certificate. */
  readonly authority: string;
}

export function nodeApi(context: ApiContext, { signer, authority }: NodeAccounts): NodeApi {
  const { store } = context;
  function get(collection: string, namespace: string, name: string): KubeObject | undefined {
    return store.get({ collection, namespace, name });
  }
  return {
    pods: async () => store.list(PODS).map(asPod),
    data: async (plural, namespace, name) => get(`/${plural}`, namespace, name) as Data | undefined,
    account: async ({ metadata: { name, namespace } }) => {
      const pod = get(PODS, namespace, name);
      const found = pod && podToken(context, signer, pod);
      return found && { ...found, authority };
    },
    service: async (namespace, name) => get('/services', namespace, name) as Service | undefined,
    owners: async ({ metadata: { name, namespace, ownerReferences } }) =>
      ownersOf(context, { metadata: { name, namespace, ownerReferences: ownerReferences && [...ownerReferences] } }),
    writeStatus: async ({ metadata: { namespace, name, uid } }, status) => {
      const change = (old: KubeObject) => (old.metadata.uid === uid ? { ...old, status: status as JsonObject } : old);
      writeChange(context, PODS, MANAGER, { namespace, name }, change, 'status');
    },
    remove: async ({ metadata: { namespace, name, uid } }) => {
      const found = get(PODS, namespace, name);
      if (found?.metadata.uid === uid) writeRemoval(context, PODS, found, {});
    },
    recordEvent: async (pod, event) => {
      const { name, namespace, uid } = pod.metadata;
      recordEvent(context, { apiVersion: 'v1', kind: 'Pod', name, namespace, uid }, event, MANAGER);
    },
    follow: (pods, mounted) =>
      store.subscribe(({ key }) => {
        if (key.collection === PODS) pods();
        if (MOUNTED.includes(key.collection)) mounted();
      }),
  };
}
