// Creates the four initial namespaces. Creates the default ServiceAccount and the ConfigMap with the authority's
// certificate in each namespace. Empties deleted namespaces.

import { isObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ApiContext } from '../api/context.ts';
import { findNamespace, IMMORTAL_NAMESPACES, NAMESPACE_COLLECTION } from '../api/namespaces.ts';
import type { WorkQueue } from './queue.ts';
import { writeNew, writeRemoval } from './writer.ts';

const INITIAL = [...IMMORTAL_NAMESPACES, 'kube-node-lease'];
const ACCOUNTS = '/serviceaccounts';
const CONFIG_MAPS = '/configmaps';
const ROOT_CERTIFICATE = 'kube-root-ca.crt';
const MANAGER = 'kube-controller-manager';

export function seedNamespaces(context: ApiContext): void {
  for (const name of INITIAL) {
    if (findNamespace(context, name) !== undefined) continue;
    writeNew(context, NAMESPACE_COLLECTION, 'kube-apiserver', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }
}

/** Starts the controller. The returned function stops it. */
export function controlNamespaces(context: ApiContext, queue: WorkQueue, authority: string): () => void {
  const enqueue = (name: string): void =>
    queue.add(`namespace/${name}`, () => settleNamespace(context, name, authority));
  for (const namespace of context.store.list(NAMESPACE_COLLECTION)) enqueue(namespace.metadata.name);
  return context.store.subscribe(({ key, type }) => {
    if (key.collection === NAMESPACE_COLLECTION && type !== 'DELETED') enqueue(key.name);
    const isLoss = type === 'DELETED' && key.namespace !== '';
    if (!isLoss) return;
    const terminating = findNamespace(context, key.namespace)?.metadata.deletionTimestamp !== undefined;
    if (terminating || key.collection === ACCOUNTS || key.collection === CONFIG_MAPS) enqueue(key.namespace);
  });
}

function settleNamespace(context: ApiContext, name: string, authority: string): void {
  const namespace = findNamespace(context, name);
  if (namespace === undefined) return;
  if (namespace.metadata.deletionTimestamp !== undefined) {
    empty(context, namespace);
    return;
  }
  const account = { name: 'default', namespace: name };
  ensure(context, ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const annotations = {
    'kubernetes.io/description': 'The CA bundle that verifies this API server inside the cluster.',
  };
  const metadata = { name: ROOT_CERTIFICATE, namespace: name, annotations };
  ensure(context, CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': authority } });
}

function ensure(context: ApiContext, collection: string, object: KubeObject): void {
  const { namespace = '', name } = object.metadata;
  if (context.store.get({ collection, namespace, name }) === undefined) writeNew(context, collection, MANAGER, object);
}

/** Deletes the objects in the namespace, then the namespace itself. */
function empty(context: ApiContext, namespace: KubeObject): void {
  const { name } = namespace.metadata;
  let left = 0;
  for (const collection of context.store.collections()) {
    for (const object of context.store.list(collection, name)) {
      if (object.metadata.deletionTimestamp === undefined)
        writeRemoval(context, collection, object, { propagation: 'Background' });
    }
    left += context.store.list(collection, name).length;
  }
  if (left > 0) return;
  const spec = isObject(namespace.spec) ? namespace.spec : {};
  const { finalizers: _finalizers, ...rest } = spec;
  const finalized = context.store.put(NAMESPACE_COLLECTION, { ...namespace, spec: rest });
  writeRemoval(context, NAMESPACE_COLLECTION, finalized, {});
}
