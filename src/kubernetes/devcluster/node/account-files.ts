// Provides the files of a pod's service account as a kubelet does: a token that is renewed before it expires, the API
// server's CA certificate and the namespace.

import type { Pod, VolumeMount } from './objects.ts';
import type { AccountFiles, NodeApi, NodeClock } from './ports.ts';
import type { VolumeFiles } from './volumes.ts';

/** The automatic mount of the service account. No volume of a pod can have this volume name. */
export const ACCOUNT_MOUNT: VolumeMount = {
  name: '.account',
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
};

/** Returns a function that returns the current files. That function returns undefined if the pod mounts no account. */
export function openAccount(
  api: Pick<NodeApi, 'account'>,
  clock: Pick<NodeClock, 'now'>,
  pod: Pod,
): () => Promise<VolumeFiles | undefined> {
  let account: AccountFiles | undefined;
  return async () => {
    if (account === undefined || clock.now() >= account.renewAt) account = await api.account(pod);
    if (account === undefined) return undefined;
    const texts = { token: account.token, 'ca.crt': account.authority, namespace: pod.metadata.namespace };
    return new Map(
      Object.entries(texts).map(([name, text]) => [name, { content: Buffer.from(text), configMap: undefined }]),
    );
  };
}
