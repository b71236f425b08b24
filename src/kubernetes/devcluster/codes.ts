// Defines error codes of the embedded cluster. Responses of its API do not contain these codes, because the errors are
// metav1.Status objects.

export const DEVCLUSTER_CODES = {
  'devcluster-locked': 'Another process uses this state directory: stop it, or choose another directory.',
  'devcluster-state-broken': 'A file of the state directory is not readable or has another form: the message names it.',
  'devcluster-port-taken': 'The port is in use by another process: choose another one, or 0 for any free one.',
} as const;
