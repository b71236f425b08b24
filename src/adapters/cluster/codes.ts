// Defines failure codes of the Kubernetes API client.

export const CLUSTER_CODES = {
  'cluster-config-invalid':
    'No usable kubeconfig: none was found, it cannot be read, or its context, cluster or user is missing; name one with --kubeconfig and --context.',
  'cluster-credentials':
    'The kubeconfig’s way to credentials failed: a file cannot be read or its command fails; run the command by hand.',
  'cluster-unreachable':
    'The API server did not answer: unknown, refused, lost, too slow, or without a trusted certificate; it is tried again.',
  'cluster-unauthorized': 'The API server does not know these credentials (401); renew them.',
  'cluster-forbidden':
    'The API server, or an admission policy of it, denies this (403); grant the right to the account.',
  'cluster-namespace-leaving':
    'The namespace is being deleted, and accepts no new objects (403). Once it is deleted the next run creates it again if it is declared; a finalizer of an object in it may delay that.',
  'cluster-not-found':
    'The API server has no such object (404). Usually it was deleted during the run, or its namespace was: the next run looks again.',
  'cluster-unknown-kind':
    'The API server does not serve this kind in this version; install its CRD, or correct apiVersion and kind.',
  'cluster-conflict':
    'It belongs to another manager (409): another field manager owns the field, the object changed or was replaced in between, or it exists already. The next run looks again; if the conflict stays, two parties declare the same object.',
  'cluster-invalid': 'The API server refuses the object (400, 413, 415, 422); correct the manifest.',
  'cluster-gone': 'The requested part of the list expired (410) several times; the next run lists again.',
  'cluster-busy':
    'The API server is overloaded or not ready (429, 503) and stayed so over several attempts; it is tried again.',
  'cluster-deadline':
    'A run took longer than `apply.deadlineSeconds`: the change was not begun, and the next run makes it. See `run-deadline`.',
  'cluster-error':
    'The API server failed (5xx), or its answer is not one of Kubernetes; look at its log, and at proxies in between. The next run tries again.',
} as const;

export type ClusterCode = keyof typeof CLUSTER_CODES;
