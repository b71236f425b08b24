// Lists the refusals and errors of the reconciler's own listener, by stable code.

export const CONTROL_CODES = {
  'control-closed':
    'The request needs a token, and skep.yaml names no `http.tokenFile`, so it is always refused. Name a file with a token in it.',
  'control-unauthorized':
    'The request has no token, or one that is not in `http.tokenFile`. Send it as `Authorization: Bearer TOKEN`.',
  'control-token-unreadable':
    'The file that `http.tokenFile` or `http.webhookSecretFile` names cannot be read, or is empty, so no request can be admitted. The log has the reason.',
  'control-hook-closed':
    'A webhook came, and skep.yaml names no `http.webhookSecretFile`. Name a file with the secret that the Git server signs with.',
  'control-hook-unsigned':
    'A webhook has no signature. Give it a secret at the Git server: the one in `http.webhookSecretFile`.',
  'control-hook-forged':
    'A webhook is not signed with a secret of `http.webhookSecretFile`, was changed on its way, or is older than five minutes. Compare the secret at the Git server with the file, and the clocks.',
  'control-hook-unreadable':
    'The body of a webhook is not a JSON object, not even in a form. Choose `application/json` at the Git server.',
  'control-hook-rate-limited':
    'Too many webhooks of more than 64 KiB came at once. The next run on the schedule reads the sources that they were about.',
  'control-route-not-found':
    'The reconciler has nothing at this path. docs/operating.md lists the paths of its listener; the catalogue is served by `skep serve`, at another port.',
  'control-method-not-allowed':
    'The path exists but not with this method; the Allow header names the methods that it has.',
  'control-no-snapshot': 'No run has published the state yet; the first run that can read everything publishes it.',
  'control-request-invalid':
    'The request is not valid HTTP for this listener: its path, size or form. Check the client, or a proxy in between.',
  'control-run-not-found': 'The history has no run, or several, whose id starts like that; /runs lists them.',
  'control-resource-not-found':
    'The last run of this process knew no resource of this id; /fleet lists them. Before the first run has ended there is none.',
  'control-streams-exhausted':
    'Too many consoles follow the runs of this process at once. Close some, or read /fleet instead.',
  'control-history-unreadable':
    'The history of runs cannot be read now: the database or the cluster does not respond. The log has the reason.',
  'control-failed':
    'A fault of the reconciler. The log has the cause under the request id: please report it, with that record.',
} as const;

export type ControlCode = keyof typeof CONTROL_CODES;
